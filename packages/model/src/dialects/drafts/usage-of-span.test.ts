import { expect, test } from 'vitest'
import { stepOf } from '../../../test/steps-of.ts'

const call = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'claude-sonnet-4-5' }

function usageOf(attributes: Record<string, unknown>, scope = '') {
  return stepOf({ attributes: { ...call, ...attributes }, scope }).outline.usage
}

test.each([
  ['the total is input and output', 1294, 1253],
  ['the total also has the cache', 2496, 2455],
  ['there is no total', undefined, 1253],
])('whether the input includes the cache is seen from the figures: %s', (_figures, total, input) => {
  const usage = usageOf(
    {
      'gen_ai.usage.input_tokens': 1253,
      'gen_ai.usage.output_tokens': 41,
      ...(total !== undefined && { 'gen_ai.usage.total_tokens': total }),
      'gen_ai.usage.cache_read.input_tokens': 1001,
      'gen_ai.usage.cache_write_input_tokens': 201,
    },
    'some.framework',
  )

  expect(usage).toEqual({ input, output: 41, cacheRead: 1001, cacheWrite: 201, total: input + 41 })
})

const cached = { input: 110, output: 31, cacheRead: 21, reasoning: 4, total: 141 }
const openAi = {
  prompt_tokens: 110,
  completion_tokens: 31,
  total_tokens: 141,
  prompt_tokens_details: { cached_tokens: 21 },
  completion_tokens_details: { reasoning_tokens: 4 },
}
const repr =
  'CompletionUsage(completion_tokens=31, prompt_tokens=110, total_tokens=141, completion_tokens_details=CompletionTokensDetails(reasoning_tokens=4, text_tokens=None), prompt_tokens_details=PromptTokensDetails(cached_tokens=21))'
const dict =
  "{'prompt_tokens': 110, 'completion_tokens': 31, 'total_tokens': 141, 'prompt_tokens_details': {'cached_tokens': 21, 'audio_tokens': None}, 'completion_tokens_details': {'reasoning_tokens': 4}}"

test.each([
  ['langfuse.observation.usage_details', JSON.stringify(openAi)],
  ['gen_ai.usage.raw', JSON.stringify(openAi)],
  ['langsmith.metadata.usage_metadata', JSON.stringify(openAi)],
  ['metadata.usage_object', JSON.stringify(openAi)],
  ['metadata.usage_object', dict],
  ['vendor.token_usage', repr],
  ['vendor.usage_metadata', openAi],
])('a usage object is read from %s', (key, value) => {
  expect(usageOf({ [key]: value })).toEqual(cached)
})

test.each([
  ['JSON', JSON.stringify({ id: 'x', usage: openAi })],
  ['JSON in JSON', JSON.stringify({ body: JSON.stringify({ usage: openAi }) })],
  ['a Python repr', `ChatCompletion(id='x', usage=${repr})`],
  ['a Python repr in JSON', JSON.stringify({ raw: `ChatCompletion(id='x', usage=${repr})` })],
  ['a dict in a repr', `LLMResult(llm_output={'token_usage': ${dict}})`],
])('cached tokens that only the recorded response has are read from %s', (_form, output) => {
  const usage = usageOf({
    'llm.token_count.prompt': 110,
    'llm.token_count.completion': 31,
    'llm.token_count.total': 141,
    'output.value': output,
  })

  expect(usage).toEqual(cached)
})

test('a usage in the output that is not of this call adds nothing', () => {
  const usage = usageOf({
    'llm.token_count.prompt': 500,
    'llm.token_count.completion': 60,
    'output.value': JSON.stringify({ history: [{ usage: openAi }] }),
  })

  expect(usage).toEqual({ input: 500, output: 60, total: 560 })
})

test('tokens written to the cache for an hour are told apart, wherever they stand', () => {
  const written = {
    input_tokens: 51,
    output_tokens: 41,
    cache_read_input_tokens: 1001,
    cache_creation_input_tokens: 201,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 201 },
  }
  const forAnHour = {
    input: 1253,
    output: 41,
    cacheRead: 1001,
    cacheWrite: 201,
    cacheWrite5m: 0,
    cacheWrite1h: 201,
    total: 1294,
  }
  const counts = {
    'llm.token_count.prompt': 1253,
    'llm.token_count.completion': 41,
    'llm.token_count.prompt_details.cache_read': 1001,
    'llm.token_count.prompt_details.cache_write': 201,
  }

  expect(usageOf({ ...counts, 'output.value': JSON.stringify({ usage: written }) })).toEqual(forAnHour)
  expect(
    usageOf({
      ...counts,
      'anthropic.usage.cache_creation.ephemeral_5m_input_tokens': 0,
      'anthropic.usage.cache_creation.ephemeral_1h_input_tokens': 201,
    }),
  ).toEqual(forAnHour)
})

test('LangChain reports nothing written beside the tokens written for five minutes', () => {
  const usage = usageOf({
    'langsmith.metadata.usage_metadata': JSON.stringify({
      input_tokens: 1256,
      output_tokens: 42,
      total_tokens: 1298,
      input_token_details: {
        cache_read: 1002,
        cache_creation: 0,
        ephemeral_5m_input_tokens: 202,
        ephemeral_1h_input_tokens: 0,
      },
    }),
  })

  expect(usage).toMatchObject({ input: 1256, output: 42, cacheRead: 1002, cacheWrite: 202, total: 1298 })
})

test('buckets of a total that is input and output are parts of these two', () => {
  const buckets = { input: 110, output: 31, input_cached_tokens: 21, output_reasoning_tokens: 4, total: 141 }

  expect(usageOf({ 'langfuse.observation.usage_details': JSON.stringify(buckets) })).toEqual(cached)
})

test('a span that only has tokens or a model is a call unless a call is below it', () => {
  const { outline } = stepOf({
    name: 'Turn 1 for agent weather_expert',
    attributes: { 'gen_ai.usage.input_tokens': 110, 'gen_ai.usage.output_tokens': 31 },
  })

  expect(outline).toMatchObject({ kind: 'llm', treeQuestion: 'llm-unless-model-below' })
})

test.each(['chat', 'invoke_agent'])('a %s of no tokens at all reported none', (operation) => {
  const none = { 'gen_ai.usage.input_tokens': 0, 'gen_ai.usage.output_tokens': 0 }

  expect(usageOf({ 'gen_ai.operation.name': operation, ...none })).toBeUndefined()
})
