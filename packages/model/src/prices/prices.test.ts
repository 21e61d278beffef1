import { calcPrice, waitForUpdate } from '@pydantic/genai-prices'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { outline } from '../../test/outline.ts'
import { priceStep } from './price.ts'
import { createPricer } from './prices.ts'
import type { StepOutline } from '../session/step-draft.ts'
import type { Usage } from '../session/usage.ts'

const pricer = createPricer()

type CallParts = Partial<Omit<StepOutline, 'usage'>> & { at?: string }

function call(
  model: string,
  usage: Usage,
  { at = '2026-01-02T03:04:05Z', ...parts }: CallParts = {},
): StepOutline {
  return { ...outline({ id: 'call', kind: 'llm', model, usage }), startedAtMs: Date.parse(at), ...parts }
}

function costOf(model: string, usage: Usage, parts?: CallParts): number | undefined {
  return pricer.price(call(model, usage, parts))?.cost
}

test('gpt-4o charges half for cached input', () => {
  const cost = costOf(
    'gpt-4o-2024-08-06',
    { input: 1000, cacheRead: 400, output: 100 },
    { provider: 'openai' },
  )

  expect(cost).toBeCloseTo((600 * 2.5 + 400 * 1.25 + 100 * 10) / 1e6, 12)
})

test('claude-sonnet-4-5 charges cache reads a tenth, writes for five minutes 1.25 times, writes for an hour twice', () => {
  const provider = 'anthropic'
  const fiveMinutes = { input: 3520, cacheRead: 1500, cacheWrite: 2000, output: 42 }
  const mixed = { ...fiveMinutes, cacheWrite5m: 500, cacheWrite1h: 1500 }
  const { cacheWrite: _, ...partsOnly } = mixed
  const mixedCost = (20 * 3 + 1500 * 0.3 + 500 * 3.75 + 1500 * 6 + 42 * 15) / 1e6

  // The figure that Claude Code itself reports for this call.
  expect(costOf('claude-sonnet-4-5', fiveMinutes, { provider })).toBeCloseTo(0.00864, 12)
  expect(costOf('claude-sonnet-4-5-20250929', mixed, { provider })).toBeCloseTo(mixedCost, 12)
  expect(costOf('claude-sonnet-4-5', partsOnly, { provider })).toBeCloseTo(mixedCost, 12)
})

test.each([
  ['anthropic.claude-sonnet-4-5-20250929-v1:0', 'aws.bedrock', 3.3],
  ['claude-sonnet-4-5@20250929', 'gcp.vertex_ai', 3],
])('%s of %s charges twice the input for what it writes for an hour', (model, provider, perMillion) => {
  const usage = { input: 1000, cacheWrite: 1000, cacheWrite1h: 1000, output: 0 }

  expect(costOf(model, usage, { provider })).toBeCloseTo((1000 * 2 * perMillion) / 1e6, 12)
})

test('gemini-2.5-pro charges the whole call by the higher tier above 200,000 tokens', () => {
  const provider = 'gcp.gemini'

  expect(costOf('gemini-2.5-pro', { input: 200_000, output: 1000 }, { provider })).toBeCloseTo(0.26, 12)
  expect(costOf('gemini-2.5-pro', { input: 200_001, output: 1000 }, { provider })).toBeCloseTo(
    (200_001 * 2.5 + 1000 * 15) / 1e6,
    12,
  )
})

test('the sum of many calls does not reach a tier that no single call reaches', () => {
  const cost = costOf('gemini-2.5-pro', { input: 400_000, output: 1000 }, { kind: 'agent' })

  expect(cost).toBeCloseTo((400_000 * 1.25 + 1000 * 10) / 1e6, 12)
})

test('reasoning is part of the output and not priced twice', () => {
  const cost = costOf('o3-mini', { input: 100, output: 1000, reasoning: 800 }, { provider: 'openai' })

  expect(cost).toBeCloseTo((100 * 1.1 + 1000 * 4.4) / 1e6, 12)
})

test('audio tokens have their own price, cached ones too', () => {
  const preview = { input: 300, audioInput: 200, output: 150, audioOutput: 100 }
  const realtime = { input: 1000, audioInput: 600, cacheRead: 500, output: 100, audioOutput: 80 }

  expect(costOf('gpt-4o-audio-preview-2025-06-03', preview, { provider: 'openai' })).toBeCloseTo(
    (100 * 2.5 + 200 * 40 + 50 * 10 + 100 * 80) / 1e6,
    12,
  )
  expect(costOf('gpt-realtime', realtime, { provider: 'openai' })).toBeCloseTo(
    (400 * 0.4 + 500 * 32 + 100 * 0.4 + 20 * 16 + 80 * 64) / 1e6,
    12,
  )
})

test('audio on an audio model without a known price is not priced like text', () => {
  const cost = costOf(
    'openai/gpt-audio',
    { input: 300, audioInput: 200, output: 1 },
    { provider: 'openrouter' },
  )

  expect(cost).toBeUndefined()
})

test('an embedding is priced by its input, even when only the total is known', () => {
  const parts = { kind: 'embedding', provider: 'openai' } as const

  expect(costOf('text-embedding-3-small', { input: 8 }, parts)).toBeCloseTo(1.6e-7, 12)
  expect(costOf('text-embedding-3-small', { total: 8 }, parts)).toBeCloseTo(1.6e-7, 12)
  expect(costOf('text-embedding-3-small', { total: 8 }, { kind: 'embedding' })).toBeCloseTo(1.6e-7, 12)
})

test('the price is that of the day, and where it matters the hour, of the call', () => {
  const usage = { input: 1_000_000, output: 1_000_000 }

  expect(costOf('o3', usage, { at: '2025-06-09T23:59:59Z' })).toBeCloseTo(50, 9)
  expect(costOf('o3', usage, { at: '2025-06-10T00:00:00Z' })).toBeCloseTo(10, 9)
  expect(costOf('deepseek-chat', usage, { at: '2025-03-01T12:00:00Z' })).toBeCloseTo(1.37, 9)
  expect(costOf('deepseek-chat', usage, { at: '2025-03-01T20:00:00Z' })).toBeCloseTo(0.685, 9)
})

test('a fee per request is added', () => {
  const cost = costOf('sonar-pro', { input: 100, output: 100 }, { provider: 'perplexity' })

  expect(cost).toBeCloseTo((100 * 3 + 100 * 15) / 1e6 + 0.014, 12)
})

test('models are found under the names of clouds and routers', () => {
  const usage = { input: 1_000_000, output: 0 }

  expect([
    costOf('my-deployment', usage, { provider: 'azure.ai.openai' }),
    costOf('gpt-4o-2024-08-06', usage, { provider: 'azure.ai.openai', requestedModel: 'my-deployment' }),
    costOf('us.anthropic.claude-sonnet-4-5-20250929-v1:0', usage, { provider: 'aws.bedrock' }),
    costOf('claude-3-5-haiku@20241022', usage, { provider: 'gcp.vertex_ai' }),
    costOf('models/gemini-2.5-flash', usage, { provider: 'gcp.gemini' }),
    costOf('openai/gpt-4o', usage, { provider: 'openrouter' }),
    costOf('openai/gpt-4o', usage, { provider: 'gateway' }),
    costOf('anthropic/claude-3-5-haiku-latest', usage),
    costOf('grok-3', usage, { provider: 'x_ai' }),
    costOf('mistral-large-latest', usage, { provider: 'mistral_ai' }),
    costOf('gpt-4o', usage, { provider: 'a proxy of ours' }),
    costOf('GPT-4o', usage),
  ]).toEqual([undefined, 2.5, 3.3, 0.8, 0.3, 2.5, 2.5, 0.8, 3, 2, 2.5, 2.5])
})

test('the requested model is used when the responding one is unknown', () => {
  const cost = costOf('router-chosen-7', { input: 1_000_000, output: 0 }, { requestedModel: 'gpt-4o' })

  expect(cost).toBe(2.5)
})

test('local models have no price until somebody sets one', () => {
  const usage = { input: 10, output: 10 }
  const priced = createPricer({ overrides: [{ model: 'llama*', inputPerMillion: 1, outputPerMillion: 2 }] })

  expect([
    costOf('gpt-4o', usage, { provider: 'ollama' }),
    costOf('ollama/deepseek-chat', usage),
    costOf('deepseek-r1:8b', usage),
    costOf('mistral:latest', usage),
    costOf('anything', usage, { provider: 'vllm' }),
  ]).toEqual([undefined, undefined, undefined, undefined, undefined])
  expect(priced.price(call('llama3.1:8b', usage, { provider: 'ollama' }))).toEqual({
    cost: (10 * 1 + 10 * 2) / 1e6,
    source: 'computed',
  })
})

test('the sender’s price wins, unless it is 0 for a call with tokens', () => {
  const usage = { input: 1_000_000, output: 0 }

  expect(pricer.price(call('gpt-4o', usage, { reportedCost: 0.7 }))).toEqual({
    cost: 0.7,
    source: 'reported',
  })
  expect(pricer.price(call('gpt-4o', usage, { reportedCost: 0 }))).toEqual({ cost: 2.5, source: 'computed' })
  expect(pricer.price(call('my-model', usage, { reportedCost: 0 }))).toEqual({ source: 'no-price' })
  expect(pricer.price(call('gpt-4o', usage, { reportedCost: Number.NaN }))?.cost).toBe(2.5)
})

test('a tool costs what its sender reports; nothing is computed', () => {
  const tool = outline({ id: 'tool', kind: 'action', model: 'gpt-4o', usage: { input: 1, output: 1 } })

  expect(pricer.price(tool)).toBeNull()
  expect(pricer.price({ ...tool, usage: {}, reportedCost: 0.01 })).toEqual({ cost: 0.01, source: 'reported' })
})

test('a call that reported no tokens has no cost, never 0', () => {
  const { usage: _, ...noUsage } = call('gpt-4o', {})

  expect(pricer.price(noUsage)).toBeNull()
  expect(costOf('gpt-4o', {})).toBeUndefined()
  expect(costOf('gpt-4o', { total: 100 })).toBeUndefined()
  expect(costOf('gpt-4o', { input: 100, total: 150 })).toBeCloseTo((100 * 2.5 + 50 * 10) / 1e6, 12)
  expect(costOf('gpt-4o', { input: 100 }, { status: 'error' })).toBeCloseTo(0.00025, 12)
  expect(pricer.price({ ...noUsage, status: 'error' })).toBeNull()
})

test('models charged by the hour or the page are not priced by tokens', () => {
  expect(costOf('whisper-1', { input: 100, output: 100 }, { provider: 'openai' })).toBeUndefined()
})

test('overrides match by name or prefix, provider and start date, and later ones win', () => {
  const usage = { input: 1_000_000, output: 0 }
  const overridden = createPricer({
    overrides: [
      { model: 'gpt-4o', inputPerMillion: 9, outputPerMillion: 9 },
      { model: 'My-*', inputPerMillion: 1, outputPerMillion: 1, cacheReadPerMillion: 0.5, perRequest: 0.25 },
      { model: 'my-model', provider: 'Azure.ai.openai', inputPerMillion: 2, outputPerMillion: 1 },
      { model: 'my-model', inputPerMillion: 3, outputPerMillion: 1, from: '2026-06-01' },
    ],
  })
  const price = (model: string, parts?: CallParts) => overridden.price(call(model, usage, parts))?.cost

  expect([
    price('gpt-4o'),
    price('gpt-4o-mini'),
    price('my-model'),
    price('my-other'),
    price('my-model', { provider: 'azure.ai.openai' }),
    price('my-model', { at: '2026-06-01T00:00:00Z', provider: 'azure.ai.openai' }),
    price('gpt-4o-2024-08-06', { requestedModel: 'my-model' }),
    overridden.price(call('my-other', { ...usage, cacheRead: 1_000_000 }))?.cost,
  ]).toEqual([9, 0.15, 1.25, 1.25, 2, 3, 1.25, 0.75])
  expect(() =>
    createPricer({ overrides: [{ model: 'x', inputPerMillion: 1, outputPerMillion: 1, from: 'soon' }] }),
  ).toThrow('The price of x starts on "soon", which is not an ISO date')
})

test('pricing a step sets its cost, or removes a cost that is no longer known', () => {
  const known = priceStep(call('gpt-4o', { input: 1_000_000, output: 0 }), pricer)
  const unknown = priceStep({ ...call('my-model', { input: 1 }), cost: 1, costSource: 'computed' }, pricer)
  const silent = priceStep({ ...call('gpt-4o', {}), cost: 1, costSource: 'computed' }, pricer)

  expect([known.cost, known.costSource]).toEqual([2.5, 'computed'])
  expect(['cost' in unknown, unknown.costSource]).toEqual([false, 'no-price'])
  expect('cost' in silent || 'costSource' in silent).toBe(false)
})

test('a call is priced by the tokens that are known, once it has ended', () => {
  const priceOf = (usage: Usage, more: Partial<StepOutline> = {}) =>
    pricer.price(call('gpt-4o', usage, more))?.cost ?? null
  expect({
    inputOnly: priceOf({ input: 1_000_000 }),
    outputOnly: priceOf({ output: 1_000_000 }),
    totalOnly: priceOf({ total: 1_000_000 }),
    running: priceOf({ input: 1_000_000 }, { status: 'running' }),
  }).toEqual({ inputOnly: 2.5, outputOnly: 10, totalOnly: null, running: null })
})

test('for every model in the table the figure is the one that the table’s own engine gives', async () => {
  const providers = (await waitForUpdate()) ?? []
  const models = providers.flatMap((provider) =>
    provider.models.map((model) => ({ provider: provider.id, model: model.id })),
  )
  const count = fc.nat(300_000)
  const samples = fc.sample(
    fc.record({
      fresh: count,
      read: count,
      written: count,
      output: count,
      reasoning: fc.nat(9),
      hour: fc.nat(23),
      named: fc.constantFrom(...models),
    }),
    3000,
  )
  const compare = ({ named, fresh, read, written, output, reasoning, hour }: (typeof samples)[number]) => {
    const { provider, model } = named
    const at = new Date(Date.UTC(2026, 0, 2, hour))
    const input = fresh + read + written
    const sums = { input, output: output + reasoning }
    const ours = costOf(
      model,
      { ...sums, cacheRead: read, cacheWrite: written, reasoning },
      { provider, at: at.toISOString() },
    )
    const theirs = calcPrice(
      {
        input_tokens: sums.input,
        cache_read_tokens: read,
        cache_write_tokens: written,
        output_tokens: sums.output,
        output_reasoning_tokens: reasoning,
      },
      model,
      { providerId: provider, timestamp: at },
    )
    return { ...named, ours, theirs: theirs?.total_price }
  }
  const compared = samples
    .map(compare)
    // A name that its provider's own list does not match is looked for elsewhere; what is not charged by tokens is unknown.
    .filter(({ ours, theirs }) => ours !== undefined && theirs !== undefined)

  expect(compared.length).toBeGreaterThan(2000)
  expect(compared.filter(({ ours, theirs }) => Math.abs(ours! - theirs!) > 1e-9)).toEqual([])
})
