import { expect, test } from 'vitest'
import type { Session } from '../session/session.ts'
import type { Step } from '../session/step.ts'
import { findTapeGaps } from './tape-gaps.ts'

const step = {
  id: 'one',
  parentId: null,
  startedAt: '2026-11-16T09:00:00.000Z',
  endedAt: '2026-11-16T09:00:01.000Z',
  offsetMs: 0,
  durationMs: 1000,
  status: 'ok',
  hasPayload: true,
  cost: null,
  dialect: 'playhead',
} as const

const model: Step = {
  ...step,
  kind: 'llm',
  name: 'chat',
  model: 'gpt-4o',
  messages: [{ role: 'assistant', parts: [{ type: 'text', text: 'Hello' }], isOutput: true }],
}

function action(result: unknown, attributes = {}): Step {
  const json = JSON.stringify(result)
  return {
    ...step,
    kind: 'action',
    name: 'find',
    tool: { name: 'find' },
    attributes: { 'playhead.action.result': json, ...attributes },
  }
}

function reasons(...steps: Step[]): string[] {
  return findTapeGaps({ session: {} as Session['session'], steps }).map(({ reason }) => reason)
}

test.each<[string, Step[], string[]]>([
  ['a whole session has none', [model, { ...action({ id: 1 }), id: 'two' }], []],
  ['a model call that still runs', [{ ...model, status: 'running' }], ['no-output']],
  ['a model call without a reply', [{ ...model, messages: [] }], ['no-output']],
  [
    'a model call whose text was not recorded',
    [
      {
        ...model,
        messages: [{ role: 'assistant', parts: [{ type: 'text', text: '[5 characters]' }], isOutput: true }],
      },
    ],
    ['content-off'],
  ],
  ['a failed model call', [{ ...model, messages: [], status: 'error' }], []],
  ['an embedding', [{ ...model, kind: 'embedding' }], ['embeddings']],
  ['a cut answer', [{ ...model, attributes: { 'playhead.truncated.of': ['response'] } }], ['answer-cut']],
  ['a cut prompt', [{ ...model, attributes: { 'playhead.truncated.of': ['messages'] } }], []],
  ['a cut result', [action('long', { 'playhead.truncated.of': ['result'] })], ['answer-cut']],
  ['cut arguments', [action('short', { 'playhead.truncated.of': ['arguments'] })], []],
  ['a secret in a result', [action({ key: '[redacted]' })], ['redacted-result']],
  ['bytes', [action('[3 bytes]')], ['result-not-data']],
  ['another instrumentation', [{ ...action(1), dialect: 'openinference' }], ['tool-not-wrapped']],
  ['an inferred action', [{ ...action(1), isInferred: true }], ['tool-not-wrapped']],
  [
    'an embedding inside an action that is not served, because it holds a model call',
    [
      action(1),
      { ...model, id: 'two', parentId: 'one' },
      { ...model, kind: 'embedding', id: 'three', parentId: 'one' },
    ],
    ['embeddings'],
  ],
])('%s', (_name, steps, expected) => {
  expect(reasons(...steps)).toEqual(expected)
})

test('a gap says which step and why', () => {
  expect(findTapeGaps({ session: {} as Session['session'], steps: [action('[3 bytes]')] })).toEqual([
    {
      reason: 'result-not-data',
      stepId: 'one',
      sentence: 'find: its result is not data that can be recorded',
    },
  ])
})
