import { expect, test } from 'vitest'
import { outline, resolveById } from '../../test/outline.ts'
import { isSameCallByFigures } from './same-call.ts'

/** A stream as LangChain's span tells of it: without the response id and the input. */
const ofRun = outline({
  id: 'of the run',
  parentId: 'agent',
  kind: 'llm',
  reporter: 'openinference.langchain',
  model: 'claude-sonnet-4-5-20250929',
  usage: { input: 0, output: 41 },
  outputPreview: 'Let me check.',
  from: 6,
  to: 284,
})
/** As the client traces the same call, in a trace of its own. */
const alone = outline({
  sessionId: 'another',
  id: 'alone',
  kind: 'llm',
  reporter: 'com.anthropic.sdk',
  model: 'claude-sonnet-4-5-20250929',
  responseId: 'msg_1',
  usage: { input: 1253, output: 41, cacheRead: 1001 },
  cost: 0.0018,
  from: 93,
  to: 283,
})

test("a client's span that stands alone is the call of a run that has the same figures", () => {
  expect(isSameCallByFigures(ofRun, alone)).toBe(true)
  expect(isSameCallByFigures(alone, ofRun)).toBe(true)
  expect(isSameCallByFigures(ofRun, { ...alone, outputPreview: 'Let me check.' })).toBe(true)
})

test.each([
  ['are of one instrumentation', { reporter: 'openinference.langchain' }],
  ['name no instrumentation', { reporter: undefined }],
  ['have other tokens in the reply', { usage: { input: 1253, output: 42 } }],
  ['have no tokens in the reply', { usage: { input: 1253 } }],
  ['are of another model', { model: 'claude-opus-4-5' }],
  ['have another reply', { outputPreview: 'I can help.' }],
  ['are of a run, both', { parentId: 'another agent' }],
  ['are of two runs at the same time', { parentId: 'another agent', startedAtMs: ofRun.startedAtMs }],
  ['are seconds apart', { startedAtMs: ofRun.startedAtMs + 3_000, endedAtMs: ofRun.endedAtMs! + 3_000 }],
  ['began before', { startedAtMs: ofRun.startedAtMs - 5 }],
  ['ended after', { endedAtMs: ofRun.endedAtMs! + 5 }],
  ['have not ended', { endedAtMs: null }],
])('reports of two calls stay two that %s', (_, change) => {
  expect(isSameCallByFigures(ofRun, { ...alone, ...change } as typeof alone)).toBe(false)
})

test('a short call long before the end of a longer one is another call', () => {
  expect(isSameCallByFigures({ ...ofRun, endedAtMs: alone.endedAtMs! + 90 }, alone)).toBe(true)
  expect(isSameCallByFigures({ ...ofRun, endedAtMs: alone.endedAtMs! + 110 }, alone)).toBe(false)
})

test('a short reply needs another figure that is the same', () => {
  const [short, shortAlone] = [
    { ...ofRun, usage: { input: 0, output: 3 } },
    { ...alone, usage: { input: 1253, output: 3 } },
  ]
  expect(isSameCallByFigures(short, shortAlone)).toBe(false)
  expect(isSameCallByFigures(short, { ...shortAlone, outputPreview: 'Let me check.' })).toBe(true)
  expect(isSameCallByFigures({ ...short, usage: { input: 1253, output: 3 } }, shortAlone)).toBe(true)
})

test('two calls with other inputs, or with two response ids, are two', () => {
  const counted = { ...ofRun, usage: { input: 7, output: 41 } }
  expect(isSameCallByFigures(counted, alone)).toBe(false)
  expect(isSameCallByFigures({ ...ofRun, responseId: 'msg_2' }, alone)).toBe(false)
})

test('a call takes the figures of its report elsewhere, and each report serves one call', () => {
  const parallel = { ...ofRun, id: 'parallel' }
  const { [ofRun.id]: first, parallel: second } = resolveById(
    [outline({ id: 'agent', kind: 'agent', to: 300 }), ofRun, parallel],
    [],
    { reportsElsewhere: [alone] },
  )
  const taken = [first, second].filter((step) => step?.usage?.input === 1253)
  expect(taken).toMatchObject([
    { usage: alone.usage, cost: 0.0018, responseId: 'msg_1', outputPreview: 'Let me check.' },
  ])
})
