import type { RateCard } from './rate-card.ts'

/** A price set by the user, for a model that the table lacks or instead of the table's price. In US dollars. */
export type PriceOverride = {
  /** The model's name, or a prefix followed by `*`; case-insensitive. */
  model: string
  /** Only for calls to this provider. */
  provider?: string
  inputPerMillion: number
  outputPerMillion: number
  cacheReadPerMillion?: number
  cacheWritePerMillion?: number
  cacheWrite1hPerMillion?: number
  audioInputPerMillion?: number
  audioOutputPerMillion?: number
  imageInputPerMillion?: number
  reasoningPerMillion?: number
  perRequest?: number
  /** The first day it applies, as an ISO date; absent means always. */
  from?: string
}

/** An override, compiled for many lookups. */
export type OverrideRule = {
  matches(model: string, provider: string | undefined): boolean
  fromMs: number
  card: RateCard
}

export function createOverrideRule(override: PriceOverride): OverrideRule {
  const model = override.model.trim().toLowerCase()
  const provider = override.provider?.trim().toLowerCase()
  const prefix = model.endsWith('*') ? model.slice(0, -1) : undefined
  const fromMs = override.from === undefined ? -Infinity : Date.parse(override.from)
  if (Number.isNaN(fromMs))
    throw new RangeError(
      `The price of ${override.model} starts on "${override.from}", which is not an ISO date`,
    )
  return {
    matches: (name, ofProvider) =>
      (provider === undefined || provider === ofProvider) &&
      (prefix === undefined ? name === model : name.startsWith(prefix)),
    fromMs,
    card: cardOf(override),
  }
}

function cardOf(override: PriceOverride): RateCard {
  const card: RateCard = { input: override.inputPerMillion, output: override.outputPerMillion }
  if (override.cacheReadPerMillion !== undefined) card.cacheRead = override.cacheReadPerMillion
  if (override.cacheWritePerMillion !== undefined) card.cacheWrite = override.cacheWritePerMillion
  if (override.cacheWrite1hPerMillion !== undefined) card.cacheWrite1h = override.cacheWrite1hPerMillion
  if (override.audioInputPerMillion !== undefined) card.audioInput = override.audioInputPerMillion
  if (override.audioOutputPerMillion !== undefined) card.audioOutput = override.audioOutputPerMillion
  if (override.imageInputPerMillion !== undefined) card.imageInput = override.imageInputPerMillion
  if (override.reasoningPerMillion !== undefined) card.reasoning = override.reasoningPerMillion
  if (override.perRequest !== undefined) card.request = override.perRequest
  return card
}
