import { expect, test } from 'vitest'
import { outline, SESSION_START } from '../../test/outline.ts'
import { assembleSession } from '../assembly/assemble-session.ts'
import { parseRecording, toRecording, upgradeRecording } from './recording.ts'

const session = assembleSession({
  outlines: [outline({ id: 'root', kind: 'agent' }), outline({ id: 'call', kind: 'llm', parentId: 'root' })],
  contents: new Map([
    ['call', { messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }], attributes: {} }],
  ]),
  nowMs: SESSION_START,
  lastHeardAtMs: SESSION_START,
})
const recording = toRecording(session, '2026-01-02T03:05:00.000Z')

/** The recording as it comes from a file, with one value in it changed; undefined removes it. */
function changed(path: string, value: unknown): unknown {
  const json: unknown = JSON.parse(JSON.stringify(recording))
  const keys = path.split('.')
  const last = keys.pop()!
  let holder = json as { [key: string]: unknown }
  for (const key of keys) holder = holder[key] as { [key: string]: unknown }
  if (value === undefined) delete holder[last]
  else holder[last] = value
  return json
}

test('a saved session is read back completely', () => {
  const read = parseRecording(JSON.parse(JSON.stringify(recording)))

  expect(recording).toMatchObject({ version: 1, exportedAt: '2026-01-02T03:05:00.000Z' })
  expect(read).toEqual({ session })
})

test('a recording of a newer version is rejected', () => {
  expect(parseRecording(changed('version', 9))).toEqual({
    problem: 'made by a newer Playhead: version 9, this one reads up to 1; update Playhead to open it',
  })
})

test('an invalid recording is rejected with the place of the problem', () => {
  const problems = [
    'text',
    null,
    [],
    {},
    changed('version', '1'),
    changed('session', undefined),
    changed('session.endState', 'great'),
    changed('session.tags', [1]),
    changed('steps', {}),
    changed('steps.1.offsetMs', '3'),
    changed('steps.1.kind', 'magic'),
    changed('steps.1.messages', [{ role: 'user' }]),
    changed('steps.0.error', 'boom'),
  ].map((json) => parseRecording(json))

  expect(problems).toEqual(
    [
      'it is not a JSON object',
      'it is not a JSON object',
      'it is not a JSON object',
      'it has no version',
      'it has no version',
      'session is missing',
      'session.endState must be one of success, fail, indeterminate, running, lost',
      'session.tags must be a list of strings',
      'steps must be a list',
      'steps[1].offsetMs must be a number',
      'steps[1].kind must be one of llm, embedding, action, agent, retrieval, guardrail, handoff, evaluator, workflow, event, other',
      'steps[1].messages must be a list of messages with parts',
      'steps[0].error.message must be a string',
    ].map((problem) => ({ problem: `not a Playhead recording: ${problem}` })),
  )
})

test('an old recording passes through every later upgrade', () => {
  const chain = [
    (json: Record<string, unknown>) => ({ ...json, renamed: json['old'] }),
    (json: Record<string, unknown>) => ({ ...json, counted: 2 }),
  ]

  expect(upgradeRecording({ version: 1, old: 'x' }, chain)).toEqual({
    recording: { version: 3, old: 'x', renamed: 'x', counted: 2 },
  })
  expect(upgradeRecording({ version: 2, old: 'x' }, chain)).toEqual({
    recording: { version: 3, old: 'x', counted: 2 },
  })
  expect(upgradeRecording({ version: 4 }, chain)).toEqual({
    problem: 'made by a newer Playhead: version 4, this one reads up to 3; update Playhead to open it',
  })
})
