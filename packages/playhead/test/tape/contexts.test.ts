import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import * as playhead from '../../src/index.ts'
import {
  type ActionOutcome,
  withTape,
  type ActionCall,
  type ActiveTape,
  type TapedAction,
} from '../../src/record/session/active-tape.ts'
import { startRecorder } from '../clients/recorder.ts'

beforeAll(() => playhead.init({ endpoint: false, capture: false }))

function tapeOf(text: string, act: (call: ActionCall) => TapedAction = () => ({ kind: 'run' })): ActiveTape {
  return {
    isStrict: true,
    respond: () => ({ kind: 'response', status: 200, headers: {}, chunks: [text] }),
    act,
  }
}

/** Nothing listens there. */
const ask = async () => (await fetch('http://127.0.0.1:2/v1/chat/completions')).text()

test('runs at the same time have a tape each, and what left its context is refused', async () => {
  const { uninstall } = startRecorder()
  const outside = { ask: () => Promise.resolve('') }
  const queue = new Promise<void>((resolve) => {
    outside.ask = () => {
      resolve()
      return queued
    }
  })
  const queued = queue.then(ask)
  const alone = withTape(tapeOf('one'), async () => [await ask(), await nextTurn().then(ask)])
  const beside = withTape(tapeOf('two'), async () => [await ask(), await outside.ask()])
  const [first, second] = await Promise.all([alone, beside])
  uninstall()
  expect(first).toEqual(['one', 'one'])
  expect(second[0]).toBe('two')
  expect(JSON.parse(second[1]!)).toMatchObject({
    error: { code: 'playhead_miss', message: expect.stringMatching(/^Several runs with a tape are active/) },
  })
})

test('with one run, its tape answers what left the context, unless that is another run without a tape', async () => {
  const { uninstall } = startRecorder()
  const { promise: started, resolve: start } = Promise.withResolvers<void>()
  const queued = started.then(ask)
  const answer = await withTape(tapeOf('one'), () => {
    start()
    return queued
  })
  const without = withTape(tapeOf('one'), () => withTape(null, ask))
  await expect(without).rejects.toThrow('fetch failed')
  uninstall()
  expect(answer).toBe('one')
})

test('an action may run with other arguments, and the tape hears what it returned or threw', async () => {
  const heard: unknown[] = []
  const onResult = ({ attributes: _recorded, ...outcome }: ActionOutcome) => heard.push(outcome)
  const tape = tapeOf('', ({ args }) => ({
    kind: 'run',
    args: [Number(args[0]) + 1],
    onResult,
    source: 'live',
  }))
  const double = playhead.recordTool('double', async (value: number) => {
    if (value > 10) throw new RangeError('too large')
    return value * 2
  })
  const count = playhead.recordTool('count', function* (to: number) {
    for (let value = 1; value <= to; value++) yield value
  })
  const session = await playhead.withSession((view) =>
    withTape(tape, async () => {
      expect(await double(1)).toBe(4)
      await expect(double(10)).rejects.toThrow('too large')
      expect([...count(2)]).toEqual([1, 2, 3])
      return view
    }),
  )
  expect(heard).toMatchObject([{ value: 4 }, { error: new RangeError('too large') }, { value: [1, 2, 3] }])
  expect(session.actionEvents.map(({ returns }) => returns)).toEqual([4, undefined, [1, 2, 3]])
})

test('a stub looks like one', async () => {
  const refund = playhead.recordTool('refund', (_amount: number) => 'sent')
  const tape = tapeOf('', () => ({ kind: 'value', value: 'stubbed', source: 'stub' }))
  expect(await withTape(tape, () => refund(3))).toBe('stubbed')
})
