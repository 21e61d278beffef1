import { wordsIn } from '../json/word-table.ts'
import { calcPrice, type ConditionalPrice, type ModelPrice } from '@pydantic/genai-prices'
import type { Rate, RateCard } from './rate-card.ts'

/** The rates of a model at a time; null when it is not charged by the token. */
export type DatedCard = (atMs: number) => RateCard | null

/** Our provider ids and their common names, as the table spells them. */
const tableProviders: Record<string, string> = {
  'gcp.gemini': 'google',
  'gcp.vertex_ai': 'google',
  'gcp.gen_ai': 'google',
  'aws.bedrock': 'aws',
  'azure.ai.openai': 'azure',
  'azure.ai.inference': 'azure',
  x_ai: 'x-ai',
  xai: 'x-ai',
  mistral_ai: 'mistral',
  moonshot_ai: 'moonshotai',
  together_ai: 'together',
  togetherai: 'together',
  fireworks_ai: 'fireworks',
  voyage_ai: 'voyageai',
  zhipu_ai: 'zhipuai',
  z_ai: 'zai',
  github_copilot: 'github-copilot',
}

const localProviders: ReadonlySet<string> = new Set(
  wordsIn(`
  ollama lmstudio lm_studio lm-studio vllm llamacpp llama_cpp llama.cpp localai local mlx sglang tgi
`),
)

/** Providers of their own models, tried when neither the provider nor the model's name is found. */
const modelMakers = [
  'openai',
  'anthropic',
  'google',
  'mistral',
  'cohere',
  'x-ai',
  'deepseek',
  'voyageai',
] as const

/** Ollama's model names: family, colon, size or tag. */
const localModel = /:(latest|\d+(\.\d+)?[bm])\b/i

/** Finds the rates of a model by provider id and model name; null when the table does not have it. */
export function findCard(model: string, provider: string | undefined): DatedCard | null {
  if (isLocal(model, provider)) return null
  const own = provider === undefined ? undefined : (tableProviders[provider] ?? provider)
  const slash = model.indexOf('/')
  const maker = slash > 0 ? model.slice(0, slash) : undefined
  const bare = model.slice(slash + 1)
  if (maker !== undefined && isLocal(bare, maker)) return null
  const found =
    lookUp(model, own) ??
    (maker === undefined ? null : lookUp(bare, tableProviders[maker] ?? maker)) ??
    (maker === undefined ? null : lookUp(model.slice(model.lastIndexOf('/') + 1), own)) ??
    lookUp(model, undefined) ??
    lookUpByMaker(bare)
  return found
}

function isLocal(model: string, provider: string | undefined): boolean {
  if (provider !== undefined && localProviders.has(provider)) return true
  return localModel.test(model)
}

function lookUpByMaker(model: string): DatedCard | null {
  for (const maker of modelMakers) {
    const card = lookUp(model, maker)
    if (card !== null) return card
  }
  return null
}

function lookUp(model: string, providerId: string | undefined): DatedCard | null {
  const found = calcPrice({}, model, providerId === undefined ? {} : { providerId })
  return found === null ? null : dateCard(found.model.prices)
}

type DatedPrice = { isInForce(atMs: number): boolean; card: RateCard | null }

function dateCard(prices: ConditionalPrice[] | ModelPrice): DatedCard {
  if (!Array.isArray(prices)) {
    const card = cardOf(prices)
    return () => card
  }
  const dated = prices.map(datePrice).toReversed()
  const first = dated.at(-1)?.card ?? null
  return (atMs) => {
    const current = dated.find((price) => price.isInForce(atMs))
    return current === undefined ? first : current.card
  }
}

function datePrice({ constraint, prices }: ConditionalPrice): DatedPrice {
  const card = cardOf(prices)
  if (constraint === undefined) return { isInForce: () => true, card }
  if (constraint.type === 'start_date') {
    const fromMs = Date.parse(constraint.start_date)
    return { isInForce: (atMs) => atMs >= fromMs, card }
  }
  const from = millisecondOfDay(constraint.start_time)
  const until = millisecondOfDay(constraint.end_time)
  const isInForce = (atMs: number) => {
    const now = atMs % DAY_MS
    return until < from ? now >= from || now < until : now >= from && now < until
  }
  return { isInForce, card }
}

const DAY_MS = 86_400_000

function millisecondOfDay(time: string): number {
  return Date.parse(`1970-01-02T${time}`) % DAY_MS
}

function cardOf(prices: ModelPrice): RateCard | null {
  const card: RateCard = {}
  const fields: [keyof Omit<RateCard, 'request'>, string][] = [
    ['input', 'input_mtok'],
    ['output', 'output_mtok'],
    ['cacheRead', 'cache_read_mtok'],
    ['cacheWrite', 'cache_write_mtok'],
    ['cacheWrite5m', 'cache_write_5m_mtok'],
    ['cacheWrite1h', 'cache_write_1h_mtok'],
    ['audioInput', 'input_audio_mtok'],
    ['audioCacheRead', 'cache_audio_read_mtok'],
    ['audioOutput', 'output_audio_mtok'],
    ['imageInput', 'input_image_mtok'],
    ['imageCacheRead', 'cache_image_read_mtok'],
    ['reasoning', 'output_reasoning_mtok'],
  ]
  for (const [field, key] of fields) {
    const rate = rateOf(prices[key])
    if (rate !== undefined) card[field] = rate
  }
  const forHour = card.cacheWrite1h ?? hourRate(card)
  if (forHour !== undefined) card.cacheWrite1h = forHour
  const request = prices['requests_kcount']
  if (typeof request === 'number') card.request = request / 1000
  const isFree = Object.keys(prices).length === 0
  const isChargedByToken = card.input !== undefined || card.output !== undefined
  return isFree || isChargedByToken ? card : null
}

/**
 * Claude's writes for five minutes cost 1.25 times the input and those for an hour twice the input, whoever serves it. The
 * table has the second rate only for Anthropic.
 */
function hourRate({ input, cacheWrite }: RateCard): Rate | undefined {
  if (input === undefined || cacheWrite === undefined) return undefined
  const isClaudes = Math.abs(baseOf(cacheWrite) - 1.25 * baseOf(input)) < 1e-9
  if (!isClaudes) return undefined
  if (typeof input === 'number') return 2 * input
  return { base: 2 * input.base, tiers: input.tiers.map(({ start, price }) => ({ start, price: 2 * price })) }
}

function baseOf(rate: Rate): number {
  return typeof rate === 'number' ? rate : rate.base
}

function rateOf(price: ModelPrice[string]): Rate | undefined {
  if (price === undefined || typeof price === 'number') return price
  return { base: price.base, tiers: price.tiers.toSorted((left, right) => left.start - right.start) }
}
