import { isObject, toNumber, toObject, toText, type JsonObject } from '../json-value.ts'
import type { ProviderError, TokenUsage } from './model-api.ts'

/** The usage of chat completions, responses and embeddings: cache and reasoning are parts of the sums already. */
export function openAiUsage(raw: unknown): TokenUsage | undefined {
  if (!isObject(raw)) return undefined
  const inputDetails = toObject(raw.prompt_tokens_details ?? raw.input_tokens_details)
  const outputDetails = toObject(raw.completion_tokens_details ?? raw.output_tokens_details)
  const output = toNumber(raw.completion_tokens ?? raw.output_tokens)
  const reasoning = toNumber(outputDetails.reasoning_tokens)
  return compact({
    input: toNumber(raw.prompt_tokens ?? raw.input_tokens),
    output: isApart(raw, output, reasoning) ? output! + reasoning! : output,
    cacheRead: toNumber(inputDetails.cached_tokens ?? raw.prompt_cache_hit_tokens),
    cacheWrite: toNumber(inputDetails.cache_write_tokens ?? inputDetails.cache_creation_tokens),
    reasoning,
    audioInput: toNumber(inputDetails.audio_tokens),
    audioOutput: toNumber(outputDetails.audio_tokens),
    imageInput: toNumber(inputDetails.image_tokens),
    cost: toNumber(raw.cost),
  })
}

/** Some hosts (xAI) count reasoning beside the output; their total tells. */
function isApart(raw: JsonObject, output: number | undefined, reasoning: number | undefined): boolean {
  if (output === undefined || reasoning === undefined || reasoning === 0) return false
  const input = toNumber(raw.prompt_tokens ?? raw.input_tokens) ?? 0
  return toNumber(raw.total_tokens) === input + output + reasoning
}

/** A copy without what is absent; parts that count nothing are left out too. */
export function compact(usage: { [Field in keyof TokenUsage]: TokenUsage[Field] | undefined }): TokenUsage {
  const copy: TokenUsage = {}
  for (const field of Object.keys(usage) as (keyof TokenUsage)[]) {
    const value = usage[field]
    const isSum = field === 'input' || field === 'output'
    if (value !== undefined && (isSum || value > 0)) copy[field] = value
  }
  return copy
}

/** What a failed response says, in any provider's words. */
export function providerError(body: unknown): ProviderError | undefined {
  const holder = Array.isArray(body) ? toObject(body[0]) : toObject(body)
  const error = holder.error ?? holder.detail ?? holder.message
  if (typeof error === 'string') return { type: '', message: error }
  if (!isObject(error)) return undefined
  // Gemini's code is the number of the HTTP status, OpenAI's a word that says more than the type.
  const type = [error.code, error.status, error.type].find(
    (word) => typeof word === 'string' && word !== '' && !/^\d+$/.test(word),
  )
  return { type: typeof type === 'string' ? type : '', message: toText(error.message) ?? '' }
}
