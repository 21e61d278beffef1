import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPricer } from '../prices/prices.ts'
import { geminiGenerate } from '../providers/gemini.ts'
import type { ModelApi, ModelRequest } from '../providers/model-api.ts'
import { openAiChat } from '../providers/openai-chat.ts'
import { openAiResponses } from '../providers/openai-responses.ts'
import { Budget, limitOutput, priceCall, worstUsage } from './budget.ts'

const request: ModelRequest = {
  operation: 'chat',
  model: 'gpt-4o',
  isStream: false,
  messages: [],
  attributes: {},
}

/** Whether a reservation was granted; undefined while it waits. */
async function decisionOf(reservation: Promise<boolean>): Promise<boolean | undefined> {
  return Promise.race([reservation, Promise.resolve().then(() => undefined)])
}

test('what could pass the limit is refused; what was not needed is free again', async () => {
  const budget = new Budget(1)
  expect(await Promise.all([budget.reserve(0.6), budget.reserve(1.1)])).toEqual([true, false])
  budget.settle(0.6, 0.1)
  expect(budget.spentUsd).toBe(0.1)
  expect(await Promise.all([budget.reserve(0.91), budget.reserve(0.9)])).toEqual([false, true])
})

test('what only open calls are in the way of waits for them', async () => {
  const budget = new Budget(1)
  await budget.reserve(0.6)
  const [large, small] = [budget.reserve(0.7), budget.reserve(0.3)]
  expect([await decisionOf(large), await decisionOf(small)]).toEqual([undefined, true])
  budget.settle(0.6, 0.2)
  expect(await decisionOf(large)).toBeUndefined()
  budget.settle(0.3, 0.3)
  expect(await decisionOf(large)).toBe(false)
})

test('whatever is reserved at once, no more is spent than the limit, and every call is decided', async () => {
  const calls = fc.array(fc.record({ worst: fc.double({ min: 0, max: 1, noNaN: true }), share: fc.nat(100) }))
  await fc.assert(
    fc.asyncProperty(calls, async (made) => {
      const budget = new Budget(1)
      const decisions = made.map(async ({ worst, share }) => {
        if (!(await budget.reserve(worst))) return
        await Promise.resolve()
        budget.settle(worst, (worst * share) / 100)
        expect(budget.spentUsd).toBeLessThanOrEqual(1 + 1e-9)
      })
      await Promise.all(decisions)
    }),
  )
})

test('a budget of nothing allows what costs nothing', async () => {
  const reserved = [new Budget(0).reserve(0.01), new Budget(0).reserve(0), new Budget(1).reserve(Number.NaN)]
  expect(await Promise.all(reserved)).toEqual([false, true, false])
})

test('a call uses at most its prompt and the output that it asks for', () => {
  const limited = {
    ...request,
    attributes: { 'gen_ai.request.max_tokens': 100, 'gen_ai.request.choice.count': 3 },
  }
  expect(worstUsage(limited, 'a'.repeat(300))).toEqual({ input: 100, output: 300 })
  expect(worstUsage(request, '日本語')).toEqual({ input: 3, output: 16_384 })
  expect(worstUsage({ ...request, model: 'unheard-of' }, '')).toEqual({ input: 0, output: 128_000 })
  expect(worstUsage({ ...request, operation: 'embeddings' }, 'abc')).toEqual({ input: 1, output: 0 })
  expect(worstUsage(limited, '"cache_control"')).toMatchObject({ input: 5, cacheWrite: 5 })
})

test('a call is priced by model and provider; an unknown model has no price', () => {
  const pricer = createPricer()
  const price = (model: string | undefined, provider = 'openai') =>
    priceCall({ model, provider, usage: { input: 1_000_000, output: 100_000 } }, pricer)
  expect([price('gpt-4o'), price('unheard-of', 'local'), price(undefined)]).toEqual([
    3.5,
    undefined,
    undefined,
  ])
})

test('a request without a limit to its output can be given one, in the words of its API', () => {
  const limited = (api: ModelApi, provider = 'openai', model = 'gpt-5') =>
    limitOutput(api, { ...request, model }, { body: { generationConfig: { topK: 1 } }, provider })
  const body = { generationConfig: { topK: 1 } }
  expect(limited(openAiChat)).toEqual({ ...body, max_completion_tokens: 16_384 })
  expect(limited(openAiChat, 'groq')).toEqual({ ...body, max_tokens: 16_384 })
  expect(limited(openAiChat, 'openai_compatible')).toEqual({ ...body, max_tokens: 16_384 })
  expect(limited(openAiResponses)).toEqual({ ...body, max_output_tokens: 16_384 })
  expect(limited(geminiGenerate, 'gcp.gemini', 'gemini-2.5-pro')).toEqual({
    generationConfig: { topK: 1, maxOutputTokens: 16_384 },
  })
  expect(limited(openAiChat, 'openai', 'gpt-4o')).toBeUndefined()
  const own = { ...request, model: 'gpt-5', attributes: { 'gen_ai.request.max_tokens': 5 } }
  expect(limitOutput(openAiChat, own, { body, provider: 'openai' })).toBeUndefined()
})
