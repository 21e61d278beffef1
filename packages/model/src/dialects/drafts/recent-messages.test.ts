import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { makeSpan } from '../../../test/make-span.ts'
import { recentMessages } from '../reading/recent-messages.ts'
import { spanToOutline, spanToStep } from './span-to-step.ts'

const words = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    'Find the order.',
    'x'.repeat(300),
    '[{"role":"user","content":"no"}]',
    '"},{"role":"tool"',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
)
const result = fc.oneof(
  words,
  fc.constantFrom<unknown>(
    null,
    {},
    [],
    { ok: true, items: [{ id: 7 }] },
    { error: 'no such order' },
    '{"ok":false}',
  ),
)
const id = fc.constantFrom('c1', 'c2', 'c3')

const part = fc.oneof(
  words.map((content) => ({ type: 'text', content })),
  fc
    .tuple(id, words)
    .map(([call, text]) => ({ type: 'tool_call', id: call, name: 'search', arguments: { text } })),
  fc.tuple(id, result).map(([call, response]) => ({ type: 'tool_call_response', id: call, response })),
  words.map((content) => ({ type: 'reasoning', content })),
  fc.constant({ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }),
  fc.constant({
    type: 'text',
    messages: [
      { role: 'user', content: 'inside' },
      { role: 'tool', content: 'inside' },
    ],
  }),
)
const role = fc.constantFrom('system', 'user', 'assistant', 'tool', 'developer', 'human', 'Tool', 'function')
const message: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ role, parts: fc.array(part, { maxLength: 3 }) }) },
  { weight: 4, arbitrary: fc.record({ role, content: words }) },
  { weight: 3, arbitrary: fc.record({ role, content: fc.array(part, { maxLength: 2 }) }) },
  {
    weight: 2,
    arbitrary: fc.tuple(id, words).map(([call, content]) => ({ role: 'tool', tool_call_id: call, content })),
  },
  {
    weight: 2,
    arbitrary: id.map((call) => ({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: call, type: 'function', function: { name: 'search', arguments: '{"text":"a"}' } }],
    })),
  },
)

/** As Python's `json.dumps` writes it. */
function asPython(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(asPython).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}: ${asPython(inner)}`)
    .join(', ')}}`
}

test('an outline is the same whether a conversation is read to its beginning or not', () => {
  let short = 0
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 12 }),
      fc.boolean(),
      fc.constantFrom('gen_ai.input.messages', 'ai.prompt.messages'),
      (messages, isPython, key) => {
        const text = isPython ? asPython(messages) : JSON.stringify(messages)
        if (recentMessages(text) !== undefined) short += 1
        const operation = key.startsWith('ai.')
          ? { 'ai.operationId': 'ai.generateText.doGenerate', 'operation.name': 'ai.generateText.doGenerate' }
          : { 'gen_ai.operation.name': 'chat' }
        const span = makeSpan({ attributes: { ...operation, [key]: text } })
        expect(spanToOutline(span).outline).toEqual(spanToStep(span).outline)
      },
    ),
    { numRuns: 1_500 },
  )
  expect(short).toBeGreaterThan(500)
})

test('what comes before the last question and the last reply is not parsed', () => {
  const before = Array.from({ length: 50 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `message ${index}`,
  }))
  const last = [
    { role: 'user', content: 'Where is it?' },
    { role: 'tool', tool_call_id: 'c1', content: 'In Oslo.' },
  ]
  expect(recentMessages(JSON.stringify([...before, ...last]))).toEqual([
    { role: 'assistant', parts: [] },
    { role: 'user', parts: [{ type: 'text', text: 'Where is it?' }] },
    { role: 'tool', parts: [{ type: 'tool-result', id: 'c1', result: 'In Oslo.' }] },
  ])
})

test.each([
  ['other text', 'x'.repeat(300)],
  ['an object', JSON.stringify({ messages: [{ role: 'user', content: 'x'.repeat(300) }] })],
  ['text that was cut', JSON.stringify([{ role: 'user', content: 'x'.repeat(300) }]).slice(0, -3)],
  ['messages that begin otherwise', JSON.stringify([{ content: 'x'.repeat(300), role: 'user' }])],
  [
    'JSON with a fault at its end',
    '[{"role":"user","content":"' + 'x'.repeat(300) + '"},{"role":"user","content":}]',
  ],
])('%s is left to be parsed whole', (_, text) => {
  expect(recentMessages(text)).toBeUndefined()
})
