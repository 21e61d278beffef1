import { expect, test } from 'vitest'
import { spanToStep } from './span-to-step.ts'
import { makeSpan } from '../../../test/make-span.ts'

test.each([
  'First Token Stream Event',
  'first_token_received',
  'first_tool_call_token_received',
  'ai.stream.firstChunk',
  'gen_ai.content.completion.chunk',
  'llm.content.completion.chunk',
])('the time of the first token is that of the event %s', (name) => {
  const span = makeSpan({ attributes: { 'gen_ai.operation.name': 'chat' } })
  const at = (ms: number, event: string) => ({
    name: event,
    timeNs: span.startNs + BigInt(ms * 1e6),
    attributes: {},
  })

  const { outline, content } = spanToStep({
    ...span,
    events: [at(10, 'gen_ai.user.message'), at(120, name), at(300, name)],
  })

  expect(outline.firstTokenMs).toBe(120)
  expect(content.streaming).toEqual({ firstTokenMs: 120 })
})
