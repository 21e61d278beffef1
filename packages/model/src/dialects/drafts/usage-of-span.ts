import { hasUsage, type Usage } from '../../session/usage.ts'
import { agentOps } from '../agentops.ts'
import { speaks } from '../all-dialects.ts'
import { isRecord, toTokens } from '../../json/attribute-value.ts'
import { claudeCode } from '../claude-code.ts'
import type { Reading } from '../reading/dialect.ts'
import type { Fields } from '../reading/fields.ts'
import { parseJson } from '../../json/json-text.ts'
import { typeOfSpanData } from '../openai-agents.ts'
import { usageOf } from '../../providers/payload.ts'
import { readJson } from '../reading/read-json.ts'
import { strands } from '../strands.ts'
import { readTokenDetails, readUsageObject, type RawUsage } from '../../providers/usage.ts'

export type UsageOfSpan = { usage?: Usage; isRollup: boolean; isEstimated: boolean }

/** The tokens of one span, with cache inside the input and reasoning inside the output whoever reported them. */
export function usageOfSpan(reading: Reading, provider: string | undefined, response: unknown): UsageOfSpan {
  const buckets = parseJson(reading.fields.usageBuckets)
  if (isRecord(buckets)) {
    const usage = usageOfBuckets(buckets)
    if (hasUsage(usage)) return { usage, isRollup: false, isEstimated: false }
  }
  const raw = collect(reading)
  const isFromResponse = raw.input === undefined && response !== undefined
  if (isFromResponse) fill(raw, readUsageObject(usageOf(response)))
  if (raw.input === undefined && raw.output === undefined && raw.total === undefined) {
    const usage = aggregated(reading.fields)
    return usage === undefined
      ? { isRollup: false, isEstimated: false }
      : { usage, isRollup: true, isEstimated: false }
  }
  return {
    usage: settle(raw, countsCacheApart(reading, provider, isFromResponse)),
    isRollup: isRollup(reading),
    isEstimated: isEstimated(reading, raw),
  }
}

/** True when some key counts tokens, whatever it counts. */
export function hasUsageField(fields: Fields): boolean {
  return (
    fields.inputTokens !== undefined ||
    fields.outputTokens !== undefined ||
    fields.totalTokens !== undefined ||
    fields.usageBuckets !== undefined ||
    fields.usageObject !== undefined
  )
}

/** Settles what input and output include: one and the same call may be reported as 20 tokens or as 3520. */
export function settle(raw: RawUsage, isCacheApart: boolean): Usage {
  const usage: Usage = {}
  const { input, output, total, reasoning } = raw
  const cache = (raw.cacheRead ?? 0) + (raw.cacheWrite ?? 0)
  if (input !== undefined || cache > 0) {
    const isApart = cache > 0 && isCounted(raw, cache, isCacheApart)
    usage.input = isApart ? (input ?? 0) + cache : (input ?? cache)
  }
  if (output !== undefined) {
    const sum = (input ?? 0) + output + (reasoning ?? 0)
    const isReasoningApart =
      reasoning !== undefined &&
      reasoning > 0 &&
      (reasoning > output || total === sum || total === sum - (input ?? 0) + (usage.input ?? 0))
    usage.output = isReasoningApart ? output + reasoning : output
  }
  for (const field of parts) if (raw[field] !== undefined) usage[field] = raw[field]
  const known = (usage.input ?? 0) + (usage.output ?? 0)
  const isKnown = usage.input !== undefined || usage.output !== undefined
  if (isKnown || total !== undefined) usage.total = Math.max(known, total ?? 0)
  return usage
}

const parts = [
  'cacheRead',
  'cacheWrite',
  'cacheWrite5m',
  'cacheWrite1h',
  'reasoning',
  'audioInput',
  'audioOutput',
  'imageInput',
] as const

/** True when the input does not include what came from or went to the cache. */
function isCounted(raw: RawUsage, cache: number, isCacheApart: boolean): boolean {
  const input = raw.input ?? 0
  if (cache > input) return true
  return raw.total === input + (raw.output ?? 0) + cache || isCacheApart
}

function collect(reading: Reading): RawUsage {
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
  if (fields.usageObject !== undefined) fill(raw, readUsageObject(readJson(reading, fields.usageObject)))
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

/** Two spellings of one count are aliases: the first is kept, never the sum. */
function fill(raw: RawUsage, more: RawUsage): void {
  for (const field of Object.keys(more) as (keyof RawUsage)[]) raw[field] ??= more[field]!
}

/** Vercel 4 and 5 leave cache and reasoning to the provider's own metadata; never input and output. */
function fillDetails(raw: RawUsage, metadata: unknown): void {
  if (!isRecord(metadata)) return
  for (const provider of Object.values(metadata)) {
    const { input: _input, output: _output, total: _total, ...details } = readUsageObject(provider)
    fill(raw, details)
  }
}

/** pydantic's agent sums up the runs below it under keys of their own. */
function aggregated(fields: Fields): Usage | undefined {
  const raw: RawUsage = {}
  if (fields.aggregatedInputTokens !== undefined) raw.input = fields.aggregatedInputTokens
  if (fields.aggregatedOutputTokens !== undefined) raw.output = fields.aggregatedOutputTokens
  if (fields.aggregatedCacheReadTokens !== undefined) raw.cacheRead = fields.aggregatedCacheReadTokens
  if (fields.aggregatedCacheWriteTokens !== undefined) raw.cacheWrite = fields.aggregatedCacheWriteTokens
  return raw.input === undefined && raw.output === undefined ? undefined : settle(raw, false)
}

/** Langfuse's buckets do not overlap: input is the sum of all that went in. */
function usageOfBuckets(buckets: Record<string, unknown>): Usage {
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
  const known = (usage.input ?? 0) + (usage.output ?? 0)
  if (usage.input !== undefined || usage.output !== undefined) usage.total = known
  return usage
}

const splitters = /anthropic|bedrock/
const lastExclusiveTraceloop = [0, 27, 0]

/** The emitters, and the versions of them, that report Anthropic's and Bedrock's input as these do: without the cache. */
function countsCacheApart(reading: Reading, provider: string | undefined, isFromResponse: boolean): boolean {
  const { scope, attributes } = reading.span
  if (speaks(reading, claudeCode)) return true
  if (scope.name.includes('claude-agent-sdk') || scope.name.includes('claude_agent_sdk')) return true
  if (scope.name === '@arizeai/openinference-instrumentation-bedrock') return true
  const isSplitProvider = provider !== undefined && splitters.test(provider)
  if (isFromResponse) return isSplitProvider
  if (scope.name === '@traceloop/instrumentation-anthropic')
    return isUpTo(scope.version, lastExclusiveTraceloop)
  if (speaks(reading, strands)) return isSplitProvider || provider === undefined
  if (speaks(reading, agentOps)) return isSplitProvider
  if (reading.fields.vercelOperation === undefined || !isSplitProvider) return false
  return (
    attributes['ai.usage.inputTokenDetails.cacheReadTokens'] === undefined &&
    attributes['ai.usage.inputTokenDetails.noCacheTokens'] === undefined
  )
}

function isUpTo(version: string, limit: readonly number[]): boolean {
  const numbers = version.split('.').map((part) => Number.parseInt(part, 10))
  for (const [index, bound] of limit.entries()) {
    const number = numbers[index] ?? 0
    if (number !== bound) return number < bound
  }
  return true
}

/** Sums that the dialect itself declares: an OpenAI Agents task, a Strands agent's whole life. */
function isRollup(reading: Reading): boolean {
  if (typeOfSpanData(reading.fields.spanData) === 'task') return true
  return speaks(reading, strands) && reading.fields.operation === 'invoke_agent'
}

/** Traceloop's instrumentation of OpenAI counts streams with a tokenizer of its own; only then it knows of no cache. */
function isEstimated(reading: Reading, raw: RawUsage): boolean {
  if (reading.span.scope.name !== '@traceloop/instrumentation-openai') return false
  const isStream = reading.fields.isStreaming
  const isKnownNoStream = isStream === false || isStream === 'false'
  return !isKnownNoStream && raw.cacheRead === undefined && raw.reasoning === undefined
}
