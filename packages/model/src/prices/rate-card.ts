import type { Usage } from '../session/usage.ts'

/** US dollars per million tokens. A tier applies to the whole call when its input exceeds `start`. */
export type Rate = number | { base: number; tiers: readonly { start: number; price: number }[] }

/** The rates of one model. Parts without a rate of their own are charged like the input or output they belong to. */
export type RateCard = {
  input?: Rate
  output?: Rate
  cacheRead?: Rate
  cacheWrite?: Rate
  cacheWrite5m?: Rate
  cacheWrite1h?: Rate
  audioInput?: Rate
  audioCacheRead?: Rate
  audioOutput?: Rate
  imageInput?: Rate
  imageCacheRead?: Rate
  reasoning?: Rate
  /** US dollars per call. */
  request?: number
}

/** The tokens of one call, input and output known. `contextTokens` selects the tier. */
export type PricedTokens = { usage: Usage; input: number; output: number; contextTokens: number }

/** US dollars for one call. */
export function costOf(tokens: PricedTokens, card: RateCard): number {
  return inputCost(tokens, card) + outputCost(tokens, card) + (card.request ?? 0)
}

function inputCost({ usage, input, contextTokens }: PricedTokens, card: RateCard): number {
  const audio = upTo(usage.audioInput, input)
  const image = upTo(usage.imageInput, input - audio)
  const text = input - audio - image
  const written = upTo(usage.cacheWrite ?? (usage.cacheWrite5m ?? 0) + (usage.cacheWrite1h ?? 0), text)
  const writtenForHour = upTo(usage.cacheWrite1h, written)
  const read = upTo(usage.cacheRead, input - written)
  // Reports do not say which tokens were cached; text is assumed first, because prompts repeat it.
  const readText = upTo(read, text - written)
  const readAudio = upTo(read - readText, audio)
  const readImage = upTo(read - readText - readAudio, image)
  const rate = (chosen: Rate | undefined) => rateFor(chosen, contextTokens)
  const cacheRead = card.cacheRead ?? card.input
  const cacheWrite = card.cacheWrite ?? card.input
  const dollars =
    (text - written - readText) * rate(card.input) +
    readText * rate(cacheRead) +
    (written - writtenForHour) * rate(card.cacheWrite5m ?? cacheWrite) +
    writtenForHour * rate(card.cacheWrite1h ?? cacheWrite) +
    (audio - readAudio) * rate(card.audioInput ?? card.input) +
    readAudio * rate(card.audioCacheRead ?? card.cacheRead ?? card.audioInput ?? card.input) +
    (image - readImage) * rate(card.imageInput ?? card.input) +
    readImage * rate(card.imageCacheRead ?? card.cacheRead ?? card.imageInput ?? card.input)
  return dollars / 1e6
}

function outputCost({ usage, output, contextTokens }: PricedTokens, card: RateCard): number {
  const audio = upTo(usage.audioOutput, output)
  const reasoning = card.reasoning === undefined ? 0 : upTo(usage.reasoning, output - audio)
  const dollars =
    (output - audio - reasoning) * rateFor(card.output, contextTokens) +
    audio * rateFor(card.audioOutput ?? card.output, contextTokens) +
    reasoning * rateFor(card.reasoning, contextTokens)
  return dollars / 1e6
}

function upTo(count: number | undefined, limit: number): number {
  return count === undefined ? 0 : Math.max(0, Math.min(count, limit))
}

function rateFor(rate: Rate | undefined, contextTokens: number): number {
  if (rate === undefined) return 0
  if (typeof rate === 'number') return rate
  let price = rate.base
  for (const tier of rate.tiers) if (contextTokens > tier.start) price = tier.price
  return price
}
