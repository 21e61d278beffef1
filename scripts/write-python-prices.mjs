import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { waitForUpdate } from '@pydantic/genai-prices'
import { createPricer } from '@playhead/model/prices'

const table = fileURLToPath(new URL('../clients/python/src/playhead/prices/prices.json', import.meta.url))
const cases = fileURLToPath(new URL('../clients/python/tests/price_cases.json', import.meta.url))

/** The rates we use; other prices (per image, per second) are ignored. */
const priceKeys = [
  'input_mtok',
  'output_mtok',
  'cache_read_mtok',
  'cache_write_mtok',
  'cache_write_5m_mtok',
  'cache_write_1h_mtok',
  'input_audio_mtok',
  'cache_audio_read_mtok',
  'output_audio_mtok',
  'input_image_mtok',
  'cache_image_read_mtok',
  'output_reasoning_mtok',
  'requests_kcount',
]

/** Our price source, reduced to what pricing a call needs: one provider per line. */
async function pythonTable() {
  const providers = (await waitForUpdate()).map((provider) =>
    JSON.stringify({
      id: provider.id,
      match: provider.provider_match,
      models_match: provider.model_match,
      fallbacks: provider.fallback_model_providers,
      models: provider.models.map(({ match, prices }) => ({ match, prices: keepPrices(prices) })),
    }),
  )
  return `[\n${providers.join(',\n')}\n]\n`
}

function keepPrices(prices) {
  if (!Array.isArray(prices)) return keepKeys(prices)
  return prices.map(({ constraint, prices: own }) => ({ constraint, prices: keepKeys(own) }))
}

/** A free model has no prices at all, so a model without usable prices must not look like one. */
function keepKeys(prices) {
  const kept = Object.fromEntries(
    priceKeys.flatMap((key) => (prices[key] === undefined ? [] : [[key, prices[key]]])),
  )
  const isFree = Object.keys(prices).length === 0
  return isFree || Object.keys(kept).length > 0 ? kept : null
}

/** [provider, model] pairs from the recorded payloads, the examples, and every matching rule. */
const pricedModels = [
  ['openai', 'gpt-4o'],
  ['openai', 'gpt-4o-mini-2024-07-18'],
  ['openai', 'gpt-4.1-nano'],
  ['openai', 'gpt-5'],
  ['openai', 'gpt-5.4'],
  ['openai', 'o3-mini'],
  ['openai', 'gpt-4o-audio-preview'],
  ['openai', 'gpt-realtime'],
  ['openai', 'text-embedding-3-small'],
  ['openai', 'ft:gpt-4o-2024-08-06:acme::abc'],
  ['openai', 'no-such-model'],
  ['azure.ai.openai', 'gpt-4o'],
  ['anthropic', 'claude-sonnet-4-20250514'],
  ['anthropic', 'claude-opus-4-1'],
  ['anthropic', 'claude-3-5-haiku-latest'],
  ['aws.bedrock', 'anthropic.claude-sonnet-4-20250514-v1:0'],
  ['gcp.gemini', 'gemini-2.5-pro'],
  ['gcp.gemini', 'gemini-2.5-flash'],
  ['gcp.vertex_ai', 'gemini-2.0-flash'],
  ['mistral_ai', 'mistral-large-latest'],
  ['deepseek', 'deepseek-chat'],
  ['x_ai', 'grok-4'],
  ['groq', 'llama-3.3-70b-versatile'],
  ['openrouter', 'anthropic/claude-sonnet-4'],
  ['together_ai', 'meta-llama/Llama-3.3-70B-Instruct-Turbo'],
  ['ollama', 'llama3.2:3b'],
  ['openai_compatible', 'gpt-4o'],
  [null, 'openai/gpt-4o-mini'],
  [null, 'claude-sonnet-4-5'],
  [null, 'llama3:8b'],
]

const pricedUsages = [
  { input: 1000, output: 200 },
  { input: 46, output: 1 },
  { input: 250_000, output: 900 },
  { input: 3000, output: 500, cacheRead: 2000 },
  { input: 3000, output: 500, cacheRead: 500, cacheWrite: 2000, cacheWrite5m: 1500, cacheWrite1h: 500 },
  { input: 3000, output: 500, reasoning: 300 },
  { input: 800, output: 600, audioInput: 500, audioOutput: 400, imageInput: 100 },
  { input: 900, total: 1000 },
  { input: 900 },
  { output: 20 },
]

const datesMs = [1_700_000_000_000, 1_763_000_000_000, 1_794_700_000_000, 1_794_730_000_000]

/** The costs TypeScript computes; Python must compute exactly the same. */
function priceCases() {
  const pricer = createPricer()
  const lines = []
  for (const [provider, model] of pricedModels)
    for (const kind of ['llm', 'embedding'])
      for (const usage of pricedUsages)
        for (const startedAtMs of datesMs) {
          if (kind === 'embedding' && startedAtMs !== datesMs[1]) continue
          const outline = { kind, model, usage, startedAtMs, status: 'ok', ...(provider && { provider }) }
          lines.push(
            JSON.stringify([provider, model, kind, usage, startedAtMs, pricer.price(outline)?.cost ?? null]),
          )
        }
  return `[\n${lines.join(',\n')}\n]\n`
}

const isCheck = process.argv.includes('--check')
const files = [
  [table, await pythonTable()],
  [cases, priceCases()],
]
for (const [path, content] of files) {
  if (!isCheck) await writeFile(path, content)
  else if ((await readFile(path, 'utf8').catch(() => '')) !== content) {
    process.stderr.write(
      `${path} is not what the price table says now. Run: npx node --conditions=playhead-source scripts/write-python-prices.mjs\n`,
    )
    process.exitCode = 1
  }
}
