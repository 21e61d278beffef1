import { expect, test } from 'vitest'
import { makeTimeline } from '../../test/make-session.ts'
import { describePlan, findForkStep } from './fork-plan.ts'

const timeline = makeTimeline([
  { id: 'support', kind: 'agent', durationMs: 100 },
  { id: 'classify', parentId: 'support', offsetMs: 10 },
  { id: 'ask', kind: 'llm', parentId: 'classify', offsetMs: 11, cost: 0.001 },
  { id: 'extract', parentId: 'support', offsetMs: 20 },
  { id: 'guess', parentId: 'support', offsetMs: 25, isInferred: true },
  { id: 'fetch', parentId: 'support', offsetMs: 30, effect: 'read' },
  { id: 'refund', parentId: 'support', offsetMs: 40, effect: 'write' },
  { id: 'notify', parentId: 'support', offsetMs: 41 },
  { id: 'reply', parentId: 'support', offsetMs: 50 },
  { id: 'write', kind: 'llm', parentId: 'reply', offsetMs: 51, cost: 0.02 },
])

test('a run begins at a model call or an action that can be asked for', () => {
  const namesFrom = (id: string) => {
    const position = findForkStep(timeline.steps, id)
    return position === undefined ? undefined : timeline.steps[position]!.id
  }
  expect(['support', 'ask', 'guess', 'write', 'unknown'].map(namesFrom)).toEqual([
    'classify',
    'ask',
    'fetch',
    'write',
    undefined,
  ])
})

test('says what is taped, live, stubbed, and what it cost', () => {
  expect(describePlan(timeline.steps, 3)).toEqual([
    '2 steps before this one come from the tape.',
    'From here on the run is live.',
    'Actions that write are stubbed, unless your terminal allows them: refund.',
    'So are actions that don’t declare an effect: notify.',
    'In the recording, this part cost $0.02.',
  ])
  expect(describePlan(timeline.steps, 1)[0]).toBe(
    'Nothing comes from the tape: this is the first step that can be answered.',
  )
})
