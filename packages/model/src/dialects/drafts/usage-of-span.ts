import { hasUsage, type Usage } from '../../session/usage.ts'
import { isRecord, toTokens } from '../../json/attribute-value.ts'
import type { SpanReading } from '../reading/dialect.ts'
import { someDialect } from '../reading/dialect-set.ts'
import type { Fields } from '../reading/fields.ts'
import { parseJson } from '../../json/json-text.ts'
import { usageOf } from '../../providers/payload.ts'
import { readJson } from '../reading/payload.ts'
import { normalizeUsage, readTokenDetails, readUsageObject, type RawUsage } from '../../providers/usage.ts'
import { findUsageInText, readUsageText } from '../../providers/usage-in-text.ts'
import type { AttributeValue } from '../../otlp/span.ts'
import type { StepKind } from '../../session/step.ts'

export type UsageOfSpan = { usage?: Usage; isRollup: boolean; isEstimated: boolean }

/** The tokens of one span. Input always includes cached tokens, output always includes reasoning. */
export function usageOfSpan(
  reading: SpanReading,
  { kind, provider }: { kind: StepKind; provider: string | undefined },
  response: unknown,
): UsageOfSpan {
  const buckets = parseJson(reading.fields.usageBuckets)
  if (isRecord(buckets)) {
    const usage = usageOfBuckets(buckets)
    if (hasUsage(usage)) return { usage, isRollup: false, isEstimated: false }
  }
  const raw = collect(reading)
  const isFromResponse = raw.input === undefined && response !== undefined
  if (isFromResponse) fill(raw, readUsageObject(usageOf(response)))
  const isCacheApart = fillFromOutput(raw, reading, kind)
  // A prompt has tokens: AutoGen writes zeros where a stream reported none, Agno where the model refused.
  const isNone = (kind === 'llm' || kind === 'agent') && !raw.input && !raw.output && !raw.total
  if (isNone || (raw.input === undefined && raw.output === undefined && raw.total === undefined)) {
    const usage = aggregated(reading.fields)
    return usage === undefined
      ? { isRollup: false, isEstimated: false }
      : { usage, isRollup: true, isEstimated: false }
  }
  return {
    usage: normalizeUsage(raw, {
      isCacheApart: isCacheApart ?? excludesCache(reading, raw, { provider, isFromResponse }),
    }),
    isRollup: someDialect(reading, 'isUsageRollup'),
    isEstimated: isEstimated(reading, raw),
  }
}

/** True when any key reports tokens. */
export function hasUsageField(fields: Fields): boolean {
  return (
    fields.inputTokens !== undefined ||
    fields.outputTokens !== undefined ||
    fields.totalTokens !== undefined ||
    fields.usageBuckets !== undefined ||
    fields.usageObject !== undefined
  )
}

function collect(reading: SpanReading): RawUsage {
  const { fields } = reading
  const raw: RawUsage = {}
  if (fields.inputTokens !== undefined) raw.input = fields.inputTokens
  if (fields.outputTokens !== undefined) raw.output = fields.outputTokens
  if (fields.totalTokens !== undefined) raw.total = fields.totalTokens
  if (fields.cacheReadTokens !== undefined) raw.cacheRead = fields.cacheReadTokens
  if (fields.cacheWriteTokens !== undefined) raw.cacheWrite = fields.cacheWriteTokens
  if (fields.cacheWrite5mTokens !== undefined) raw.cacheWrite5m = fields.cacheWrite5mTokens
  if (fields.cacheWrite1hTokens !== undefined) raw.cacheWrite1h = fields.cacheWrite1hTokens
  if (fields.reasoningTokens !== undefined) raw.reasoning = fields.reasoningTokens
  if (fields.audioInputTokens !== undefined) raw.audioInput = fields.audioInputTokens
  if (fields.audioOutputTokens !== undefined) raw.audioOutput = fields.audioOutputTokens
  if (fields.imageInputTokens !== undefined) raw.imageInput = fields.imageInputTokens
  if (fields.usageObject !== undefined) fillFromObject(raw, usageObjectOf(reading, fields.usageObject))
  if (fields.inputTokenDetails !== undefined) {
    fill(raw, readTokenDetails(parseJson(fields.inputTokenDetails), 'input'))
  }
  if (fields.outputTokenDetails !== undefined) {
    fill(raw, readTokenDetails(parseJson(fields.outputTokenDetails), 'output'))
  }
  if (fields.providerMetadata !== undefined) fillDetails(raw, parseJson(fields.providerMetadata))
  if (fields.llmResponse !== undefined) fill(raw, readUsageObject(usageOf(parseJson(fields.llmResponse))))
  return raw
}

/** JSON, or the repr of a Python object. */
function usageObjectOf(reading: SpanReading, value: AttributeValue): unknown {
  const parsed = readJson(reading, value)
  return typeof parsed === 'string' ? readUsageText(parsed) : parsed
}

/**
 * Fills from a usage object beside the counts. When its input and the cache add up to the reported input, the reported
 * one includes the cache.
 */
function fillFromObject(raw: RawUsage, value: unknown): boolean | undefined {
  const more = readUsageObject(value)
  const cache =
    (more.cacheRead ?? 0) +
    Math.max(more.cacheWrite ?? 0, (more.cacheWrite5m ?? 0) + (more.cacheWrite1h ?? 0))
  const isIncluded = cache > 0 && more.input !== undefined && raw.input === more.input + cache
  fill(raw, more)
  return isIncluded ? false : undefined
}

/**
 * Fills parts that only the recorded response has, as JSON or as the repr of a Python object. Returns whether the cache is
 * counted apart, if the figures tell. Not parsed: the output of a call may be large.
 */
function fillFromOutput(raw: RawUsage, { fields }: SpanReading, kind: StepKind): boolean | undefined {
  if (kind !== 'llm' || raw.cacheWrite1h !== undefined) return undefined
  if (raw.cacheRead !== undefined && (raw.cacheWrite ?? 0) === 0) return undefined
  let isCacheApart: boolean | undefined
  for (const value of [fields.output ?? fields.unindexedCompletion, fields.metadata]) {
    if (typeof value !== 'string' || !value.includes('cache')) continue
    for (const found of findUsageInText(value)) {
      if (isOfSameCall(raw, readUsageObject(found))) isCacheApart ??= fillFromObject(raw, found)
    }
  }
  return isCacheApart
}

/** The output may hold other usages too: those of earlier messages, or sums. */
function isOfSameCall(raw: RawUsage, found: RawUsage): boolean {
  if (raw.input === undefined && raw.output === undefined) return true
  if (raw.output !== undefined && found.output !== undefined) return raw.output === found.output
  return raw.input !== undefined && raw.input === found.input
}

/** Different names of one count are aliases: the first one wins, they are never added. */
function fill(raw: RawUsage, more: RawUsage): void {
  for (const field of Object.keys(more) as (keyof RawUsage)[]) raw[field] ??= more[field]!
}

/** Vercel 4 and 5 report cache and reasoning only in the provider's metadata. */
function fillDetails(raw: RawUsage, metadata: unknown): void {
  if (!isRecord(metadata)) return
  for (const provider of Object.values(metadata)) {
    const { input: _input, output: _output, total: _total, ...details } = readUsageObject(provider)
    fill(raw, details)
  }
}

/** pydantic-ai's agent reports the sum of its runs under separate keys. */
function aggregated(fields: Fields): Usage | undefined {
  const raw: RawUsage = {}
  if (fields.aggregatedInputTokens !== undefined) raw.input = fields.aggregatedInputTokens
  if (fields.aggregatedOutputTokens !== undefined) raw.output = fields.aggregatedOutputTokens
  if (fields.aggregatedCacheReadTokens !== undefined) raw.cacheRead = fields.aggregatedCacheReadTokens
  if (fields.aggregatedCacheWriteTokens !== undefined) raw.cacheWrite = fields.aggregatedCacheWriteTokens
  return raw.input === undefined && raw.output === undefined ? undefined : normalizeUsage(raw)
}

/**
 * Langfuse's buckets do not overlap: the input is the sum of all input buckets. Other senders put a provider's usage there,
 * with parts inside; the names, the nesting and the total tell.
 */
function usageOfBuckets(buckets: Record<string, unknown>): Usage {
  if (isProviderUsage(buckets)) return normalizeUsage(readUsageObject(buckets))
  const usage: Usage = {}
  const add = (field: keyof Usage, count: number) => {
    usage[field] = (usage[field] ?? 0) + count
  }
  for (const [key, value] of Object.entries(buckets)) {
    const count = toTokens(value)
    if (count === undefined) continue
    if (key === 'total') usage.total = count
    else if (key.startsWith('output') || key.includes('reasoning') || key.startsWith('completion')) {
      add('output', count)
      if (key.includes('reasoning')) add('reasoning', count)
      else if (key.includes('audio')) add('audioOutput', count)
    } else if (/^(?:input|prompt|cache)/.test(key)) {
      add('input', count)
      if (/creation|write/.test(key)) add('cacheWrite', count)
      else if (key.includes('cache')) add('cacheRead', count)
      else if (key.includes('audio')) add('audioInput', count)
      else if (key.includes('image')) add('imageInput', count)
    }
  }
  const input = toTokens(buckets.input)
  const output = toTokens(buckets.output)
  if (input !== undefined && output !== undefined && usage.total === input + output) {
    usage.input = input
    usage.output = output
  }
  const known = (usage.input ?? 0) + (usage.output ?? 0)
  if (usage.input !== undefined || usage.output !== undefined) usage.total = known
  return usage
}

function isProviderUsage(buckets: Record<string, unknown>): boolean {
  if (buckets.prompt_tokens !== undefined || buckets.input_tokens !== undefined) return true
  return Object.values(buckets).some((value) => isRecord(value))
}

const splitProviders = /anthropic|bedrock/

/**
 * True when the sender is known to report input tokens as Anthropic and Bedrock do: without the cached ones. Asked where
 * the figures do not tell.
 */
function excludesCache(
  reading: SpanReading,
  { input = 0, output = 0, total }: RawUsage,
  { provider, isFromResponse }: { provider: string | undefined; isFromResponse: boolean },
): boolean {
  const { name } = reading.span.scope
  const isSplitProvider = provider !== undefined && splitProviders.test(provider)
  // Anthropic reports no total, and Bedrock's includes the cache: this is a framework's sum.
  if (isFromResponse && isSplitProvider) return total !== input + output
  if (name.includes('claude-agent-sdk') || name.includes('claude_agent_sdk')) return true
  return someDialect(reading, 'excludesCache', { provider, isSplitProvider, isFromResponse })
}

/** An estimate has no cached and no reasoning tokens. */
function isEstimated(reading: SpanReading, raw: RawUsage): boolean {
  if (raw.cacheRead !== undefined || raw.reasoning !== undefined) return false
  return someDialect(reading, 'isUsageEstimated')
}
