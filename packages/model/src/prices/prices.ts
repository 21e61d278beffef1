import { reportedPrice, roundDollars, type Price, type Pricer } from './price.ts'
import { createOverrideRule, type OverrideRule, type PriceOverride } from './price-override.ts'
import { findCard, type DatedCard } from './price-table.ts'
import { costOf, type PricedTokens, type RateCard } from './rate-card.ts'
import type { StepOutline } from '../session/step-draft.ts'
import type { Usage } from '../session/usage.ts'

export type { PriceOverride } from './price-override.ts'

/** Model names come from strangers, so the cache is bounded. */
const MAX_CACHED = 10_000

/** Audio rates that the table lacks, from https://platform.openai.com/docs/pricing. */
const tableGaps: PriceOverride[] = [
  {
    model: 'gpt-4o-audio-preview*',
    inputPerMillion: 2.5,
    outputPerMillion: 10,
    audioInputPerMillion: 40,
    audioOutputPerMillion: 80,
  },
  {
    model: 'gpt-4o-mini-audio-preview*',
    inputPerMillion: 0.15,
    outputPerMillion: 0.6,
    audioInputPerMillion: 10,
    audioOutputPerMillion: 20,
  },
]

/**
 * Creates a pricer that uses the sender's price, then the user's overrides (later ones win), then the bundled table.
 */
export function createPricer({ overrides = [] }: { overrides?: readonly PriceOverride[] } = {}): Pricer {
  const rules = [...tableGaps, ...overrides].map(createOverrideRule).toReversed()
  const lookups = new Map<string, Lookup>()
  let last: { outline: Named; lookup: Lookup } | undefined
  const lookUp = (outline: StepOutline): Lookup => {
    // Most sessions call one model.
    if (last === undefined || !isSameName(outline, last.outline)) {
      const { model, requestedModel, provider } = outline
      last = { outline: { model, requestedModel, provider }, lookup: findLookup(outline) }
    }
    return last.lookup
  }
  const findLookup = (outline: StepOutline): Lookup => {
    const key = `${outline.provider ?? ''}\n${outline.model ?? ''}\n${outline.requestedModel ?? ''}`
    let lookup = lookups.get(key)
    if (lookup === undefined) {
      if (lookups.size >= MAX_CACHED) lookups.clear()
      lookup = createLookup(outline, rules)
      lookups.set(key, lookup)
    }
    return lookup
  }
  return { price: (outline) => reportedPrice(outline) ?? computePrice(outline, lookUp) }
}

type Named = { [Field in 'model' | 'requestedModel' | 'provider']: string | undefined }

function isSameName(outline: StepOutline, other: Named): boolean {
  return (
    outline.model === other.model &&
    outline.requestedModel === other.requestedModel &&
    outline.provider === other.provider
  )
}

/** The sources of a model's price: matching overrides, latest first, and its rates in the table. */
type Lookup = { rules: OverrideRule[]; dated: DatedCard | null; isAudioModel: boolean }

function createLookup(outline: StepOutline, rules: readonly OverrideRule[]): Lookup {
  const provider = outline.provider?.trim().toLowerCase()
  const names = [outline.model, outline.requestedModel]
    .map((name) => name?.trim().toLowerCase() ?? '')
    .filter((name) => name !== '')
  let dated: DatedCard | null = null
  for (const name of names) dated ??= findCard(name, provider)
  return {
    rules: rules.filter((rule) => names.some((name) => rule.matches(name, provider))),
    dated,
    isAudioModel: names.some((name) => /audio|realtime|voice/.test(name)),
  }
}

const NO_PRICE: Price = { source: 'no-price' }

function computePrice(outline: StepOutline, lookUp: (outline: StepOutline) => Lookup): Price | null {
  // Only the sender knows what a tool costs.
  if (outline.kind === 'action') return null
  const isModelCall = outline.kind === 'llm' || outline.kind === 'embedding'
  const isNamed = outline.model !== undefined || outline.requestedModel !== undefined
  if (outline.usage === undefined && !(isModelCall && isNamed)) return null
  if (!isNamed) return NO_PRICE
  const lookup = lookUp(outline)
  const card = cardAt(outline.startedAtMs, lookup)
  if (card === null) return NO_PRICE
  const tokens = outline.usage === undefined ? null : tokensOf(outline, outline.usage, card)
  if (tokens === null) return null
  if (lacksAudioRate(tokens, card, lookup)) return NO_PRICE
  return { cost: roundDollars(costOf(tokens, card)), source: 'computed' }
}

function cardAt(startedAtMs: number, { rules, dated }: Lookup): RateCard | null {
  const atMs = startedAtMs > 0 ? startedAtMs : Infinity
  for (const rule of rules) if (atMs >= rule.fromMs) return rule.card
  return dated === null ? null : dated(atMs)
}

/**
 * Input and output tokens of a call; null if neither is known. One that was not reported and does not follow from the
 * others counts 0 once the call has ended, and the summary says so.
 */
function tokensOf(outline: StepOutline, usage: Usage, card: RateCard): PricedTokens | null {
  const makesNoOutput =
    outline.kind === 'embedding' ||
    outline.status === 'error' ||
    (card.output === undefined && card.input !== undefined)
  const total = usage.total
  let { input, output } = usage
  if (output === undefined && makesNoOutput) output = 0
  if (input === undefined && total !== undefined && output !== undefined) input = total - output
  if (output === undefined && total !== undefined && input !== undefined) output = total - input
  if (input === undefined && output === undefined) return null
  if (outline.status === 'running' && (input === undefined || output === undefined)) return null
  input ??= 0
  output ??= 0
  if (!(input >= 0) || !(output >= 0)) return null
  // The tokens of many calls do not tell the size of any one of them.
  const isOneCall = outline.kind === 'llm' || outline.kind === 'embedding'
  return { usage, input, output, contextTokens: isOneCall ? input : 0 }
}

/** Gemini charges audio like text by default; models made for audio never do. */
function lacksAudioRate({ usage }: PricedTokens, card: RateCard, { isAudioModel }: Lookup): boolean {
  if (!isAudioModel) return false
  return (
    ((usage.audioInput ?? 0) > 0 && card.audioInput === undefined) ||
    ((usage.audioOutput ?? 0) > 0 && card.audioOutput === undefined)
  )
}
