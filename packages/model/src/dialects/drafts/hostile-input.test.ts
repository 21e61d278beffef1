import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { loadLogs, loadSpans } from '../../../test/load-fixture.ts'
import { makeLog, makeSpan } from '../../../test/make-span.ts'
import type { AttributeValue } from '../../otlp/span.ts'
import { allDialects } from '../all-dialects.ts'
import { logToDraft, sessionOfLog } from '../logs/log-to-draft.ts'
import { logsToSteps } from '../logs/logs-to-steps.ts'
import { openAiAgentsItemToSpan } from '../../converters/openai-agents-items.ts'
import { spanToStep } from './span-to-step.ts'

const knownKeys = allDialects.all.flatMap(({ dialect }) => [
  ...Object.values({ ...dialect.numbers, ...dialect.texts, ...dialect.values }).flat(),
  ...Object.keys(dialect.groups ?? {}).flatMap((prefix) => [
    `${prefix}0.role`,
    `${prefix}0.message.role`,
    `${prefix}0.message.contents.1.message_content.type`,
    `${prefix}1`,
    `${prefix}x`,
    `${prefix}__proto__.polluted`,
  ]),
])
const words = [
  'chat',
  'LLM',
  'tool',
  'generation',
  'execute_tool',
  'ERROR',
  'invoke_agent',
  '"x"',
  '{}',
  'null',
  'NaN',
]
const shapes = [
  'messages',
  'role',
  'parts',
  'content',
  'type',
  'tool_calls',
  'function',
  'arguments',
  'output',
  'usage',
  'kwargs',
  'lc',
  'id',
  'generations',
  'choices',
  'message',
  'args',
  'error',
  '__proto__',
  'constructor',
]

const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>(null, 0, -1, 1.5, Number.NaN, true, false, '', 'text', ...words),
    fc.string(),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...shapes), tie('value'), { maxKeys: 4 }),
  ),
})).value

const attribute = fc.oneof(
  json,
  json.map((value) => JSON.stringify(value) ?? ''),
  json.map((value) => JSON.stringify(JSON.stringify(value)) ?? ''),
  json.map((value) => (JSON.stringify(value) ?? '').slice(0, -1)),
) as fc.Arbitrary<AttributeValue>

const attributes = fc.dictionary(fc.oneof(fc.constantFrom(...knownKeys), fc.string()), attribute, {
  maxKeys: 12,
})
const scopes = fc.constantFrom(
  '',
  'ai',
  'agentops',
  'langfuse-sdk',
  'strands.telemetry',
  'pydantic-ai',
  'livekit-agents',
)

test('no attributes, of whatever types, stop a span from becoming a step', () => {
  fc.assert(
    fc.property(attributes, attributes, scopes, fc.string(), (own, resource, scope, name) => {
      const events = [
        { name: 'exception', attributes: own },
        { name: 'gen_ai.choice', attributes: own },
        { name: 'gen_ai.client.inference.operation.details', attributes: own },
        { name: 'db.query.result', attributes: own },
      ]
      const { outline, content, failures } = spanToStep(
        makeSpan({ attributes: own, resource, scope, name, events }),
      )
      expect(failures).toBeUndefined()
      JSON.stringify({ outline, content })
      expect(outline.inputPreview?.length ?? 0).toBeLessThanOrEqual(200)
      expect(outline.outputPreview?.length ?? 0).toBeLessThanOrEqual(200)
      for (const count of Object.values(outline.usage ?? {})) {
        expect(Number.isSafeInteger(count) && count >= 0).toBe(true)
      }
    }),
    { numRuns: 1000 },
  )
})

test('no log record and no item of an export throws', () => {
  const names = fc.constantFrom(
    'gen_ai.choice',
    'gen_ai.user.message',
    'user_prompt',
    'api_request',
    'tool_result',
    '',
  )
  fc.assert(
    fc.property(attributes, attribute, names, fc.boolean(), (own, body, name, isClaudeCode) => {
      const scope = isClaudeCode ? 'com.anthropic.claude_code.events' : 'x'
      const log = makeLog({ attributes: { 'event.name': name, ...own }, body, name, scope, traceId: '' })
      sessionOfLog(log)
      expect(logsToSteps([logToDraft(log)]).length).toBeLessThanOrEqual(1)
      const span = openAiAgentsItemToSpan(
        { object: 'trace.span', id: name, trace_id: 'x', span_data: body, error: own },
        1n,
      )
      if (typeof span !== 'string') expect(spanToStep(span).failures).toBeUndefined()
    }),
    { numRuns: 1000 },
  )
})

test('keys that target a prototype change nothing and are dropped', () => {
  const step = spanToStep(
    makeSpan({
      attributes: {
        'openinference.span.kind': 'LLM',
        'llm.input_messages.__proto__.message.role': 'x',
        'llm.input_messages.0.message.__proto__.polluted': 'yes',
        'llm.input_messages.0.message.constructor.prototype.polluted': 'yes',
        'llm.input_messages.0.message.role': 'user',
        'llm.input_messages.0.message.content': 'hi',
        'ai.telemetry.metadata.__proto__': 'x',
        'gen_ai.request.__proto__': 'x',
        'langfuse.observation.model.parameters': '{"__proto__":{"polluted":1},"temperature":1}',
      },
    }),
  )

  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  expect(step.content.messages).toEqual([{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }])
  expect({ ...step.content.parameters }).toEqual({ temperature: 1 })
})

test('an absurd index is dropped, and a large one makes no large list', () => {
  const attributes: Record<string, string> = {
    'gen_ai.prompt.4294967295.content': 'bomb',
    'gen_ai.prompt.99999.content': 'bomb',
  }
  attributes['gen_ai.prompt.4000.content'] = 'late'
  attributes['gen_ai.prompt.7.content'] = 'early'

  const { content } = spanToStep(makeSpan({ attributes }))

  expect(content.messages?.map((message) => message.parts[0])).toEqual([
    { type: 'text', text: 'early' },
    { type: 'text', text: 'late' },
  ])
})

test('deeply nested JSON in JSON is parsed twice and then kept as text', () => {
  let text = '1'
  for (let depth = 0; depth < 12; depth++) text = JSON.stringify(text)

  const { content } = spanToStep(makeSpan({ attributes: { 'input.value': text } }))

  expect(content.input).toBe(JSON.parse(JSON.parse(text) as string))
})

test('JSON that is nested too deeply stays text', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)

  const { content, outline } = spanToStep(
    makeSpan({ attributes: { 'gen_ai.tool.name': 'x', 'gen_ai.tool.call.arguments': deep } }),
  )

  expect(content.tool?.arguments).toBe(deep)
  expect(outline.inputPreview?.length).toBe(200)
})

test('NaN, null and empty values are absent, never zero', () => {
  const { outline } = spanToStep(
    makeSpan({
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.usage.input_tokens': null,
        'gen_ai.usage.prompt_tokens': 'NaN',
        'ai.usage.promptTokens': Number.NaN,
        'gen_ai.usage.output_tokens': '',
        'gen_ai.usage.completion_tokens': '35',
        'gen_ai.response.id': '',
        'gen_ai.response.model': {},
      },
    }),
  )

  expect(outline.usage).toEqual({ output: 35, total: 35 })
  expect(outline.responseId).toBeUndefined()
})

test('impossible token counts are dropped', () => {
  const { outline } = spanToStep(
    makeSpan({ attributes: { 'gen_ai.usage.input_tokens': 1e300, 'gen_ai.usage.output_tokens': -5 } }),
  )

  expect(outline.usage).toBeUndefined()
})

test('every recorded span and log becomes the same draft each time, and leaves its attributes as they were', () => {
  for (const folder of [
    'otlp/vercel-ai-v5',
    'otlp/openinference-js',
    'otlp/mastra-1.71',
    'otlp/claude-code-2.1',
  ]) {
    for (const span of loadSpans(folder)) {
      const before = JSON.stringify(span.attributes)
      expect(spanToStep(span)).toEqual(spanToStep(span))
      expect(spanToStep(span).failures).toBeUndefined()
      expect(JSON.stringify(span.attributes)).toBe(before)
    }
    for (const log of loadLogs(folder)) expect(logToDraft(log)).toEqual(logToDraft(log))
  }
})
