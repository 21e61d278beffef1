import { expect, test } from 'vitest'
import {
  newMonitorState,
  nextMonitorState,
  type MonitorState,
  type MonitorStateName,
  type Observation,
  type Transition,
} from './monitor-state.ts'

const MINUTE = 60_000
const signs: Record<string, Observation> = { b: 'bad', g: 'good', '-': 'no-data', x: 'error', p: 'paused' }
const words: Record<string, MonitorStateName> = {
  n: 'normal',
  p: 'pending',
  F: 'firing',
  r: 'recovering',
  '-': 'no-data',
  x: 'error',
  '#': 'paused',
}

/** One observation a minute, none at a dot; what is stored is read back between them, as after a restart. */
function run(observations: string, forMinutes: number) {
  let state = newMonitorState(0)
  const states: string[] = []
  const told: [minute: number, transition: Transition][] = []
  for (const [minute, sign] of observations.split('').entries()) {
    if (sign === '.') continue
    const { next, transition } = nextMonitorState(state, signs[sign]!, {
      nowMs: minute * MINUTE,
      forMs: forMinutes * MINUTE,
    })
    state = JSON.parse(JSON.stringify(next)) as MonitorState
    states.push(Object.entries(words).find(([, name]) => name === state.state)![0])
    if (transition !== undefined) told.push([minute, transition])
  }
  return { states: states.join(''), told, state }
}

test.each<[string, number, string, string, [number, Transition][]]>([
  [
    'fires at once without a delay',
    0,
    'gbbg',
    'nFFn',
    [
      [1, 'fired'],
      [3, 'resolved'],
    ],
  ],
  ['waits before it fires', 2, 'gbbbb', 'nppFF', [[3, 'fired']]],
  ['forgets what did not last', 2, 'bbgbb', 'ppnpp', []],
  [
    'waits before it is normal',
    2,
    'bbbgggg',
    'ppFrrnn',
    [
      [2, 'fired'],
      [5, 'resolved'],
    ],
  ],
  ['fires on while it recovers and gets worse', 2, 'bbbgbgg', 'ppFrFrr', [[2, 'fired']]],
  ['an error is never normal, and never ends it', 1, 'bbxxxxb', 'pFxxxxF', [[1, 'fired']]],
  [
    'after an error it recovers as usual',
    1,
    'bbxxggg',
    'pFxxrnn',
    [
      [1, 'fired'],
      [5, 'resolved'],
    ],
  ],
  [
    'no data is not good either',
    1,
    'bb---gg',
    'pF---rn',
    [
      [1, 'fired'],
      [6, 'resolved'],
    ],
  ],
  ['an error while it waits', 2, 'bxbb', 'pxFF', [[2, 'fired']]],
  ['no data from the start', 1, '--g', '--n', []],
  ['errors from the start', 1, 'xxg', 'xxn', []],
  [
    'from no data to an error and back',
    0,
    'b-x-g',
    'F-x-n',
    [
      [0, 'fired'],
      [4, 'resolved'],
    ],
  ],
  [
    'a pause forgets that it fired',
    0,
    'bppbg',
    'F##Fn',
    [
      [0, 'fired'],
      [3, 'fired'],
      [4, 'resolved'],
    ],
  ],
])('%s', (_, forMinutes, observations, states, told) => {
  const done = run(observations, forMinutes)
  expect({ states: done.states, told: done.told }).toEqual({ states, told })
})

/** What leads to a state with a delay of 3 minutes, and where bad, good, no data, error and pause lead from there. */
test.each<[string, string, soon: string, late: string]>([
  ['normal', 'g', 'pn-x#', 'pn-x#'],
  ['pending', 'b', 'pn-x#', 'Fn-x#'],
  ['firing', 'bbbb', 'Fr-x#', 'Fr-x#'],
  ['recovering', 'bbbbg', 'Fr-x#', 'Fn-x#'],
  ['no data', '-', 'pn-x#', 'pn-x#'],
  ['no data while pending', 'b-', 'pn-x#', 'Fn-x#'],
  ['no data while firing', 'bbbb-', 'Fr-x#', 'Fr-x#'],
  ['no data while recovering', 'bbbbg-', 'Fr-x#', 'Fn-x#'],
  ['error', 'x', 'pn-x#', 'pn-x#'],
  ['error while pending', 'bx', 'pn-x#', 'Fn-x#'],
  ['error while firing', 'bbbbx', 'Fr-x#', 'Fr-x#'],
  ['error while recovering', 'bbbbgx', 'Fr-x#', 'Fn-x#'],
  ['paused', 'p', 'pn-x#', 'pn-x#'],
  ['paused while firing', 'bbbbp', 'pn-x#', 'pn-x#'],
])('%s: every observation, after a minute and after ten', (_, before, soon, late) => {
  const after = (gap: string) =>
    Object.keys(signs).map((sign) => {
      const { states, told } = run(before + gap + sign, 3)
      const earlier = run(before, 3)
      // It fires when it enters firing from what was not certainly firing, and is resolved only by good observations.
      const isNews = told.length > earlier.told.length
      const wasFired = earlier.state.firedAtMs !== null
      const isFired = states.endsWith('F') || states.endsWith('r')
      expect({ sign, isNews }).toEqual({
        sign,
        isNews: isFired ? !wasFired : wasFired && states.endsWith('n'),
      })
      return states.at(-1)
    })
  expect({ soon: after('').join(''), late: after('.........').join('') }).toEqual({ soon, late })
})

test('it says since when, whatever happened in between', () => {
  const { state } = run('bbxxb', 1)
  expect(state).toEqual({
    state: 'firing',
    sinceMs: 4 * MINUTE,
    certain: 'firing',
    certainSinceMs: MINUTE,
    firedAtMs: MINUTE,
  })
})
