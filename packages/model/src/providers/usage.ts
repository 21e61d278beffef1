import { isRecord, toNumber, toTokens, type JsonObject } from '../json/attribute-value.ts'
import type { Usage } from '../session/usage.ts'

/** Token counts as reported: `input` may exclude the cache, and `output` may exclude reasoning. */
export type RawUsage = Usage

/** The usage of one call to a provider's API. */
export type TokenUsage = Omit<Usage, 'total'> & {
  /** US dollars, from gateways that report them. */
  cost?: number
}

type Counting = {
  /** True when the provider counts cache reads and writes apart from the input. */
  isCacheApart?: boolean
  /** True when the provider counts reasoning apart from the output. */
  isReasoningApart?: boolean
}

/** Reads the usage object of a response. Omits parts of the input or output that are 0. */
export function readUsage(value: unknown, counting: Counting = {}): TokenUsage | undefined {
  if (!isRecord(value)) return undefined
  const { input, output, total: _total, ...parts } = normalizeUsage(readUsageObject(value), counting)
  const usage: TokenUsage = {}
  if (input !== undefined) usage.input = input
  if (output !== undefined) usage.output = output
  for (const field of partFields) if ((parts[field] ?? 0) > 0) usage[field] = parts[field]!
  const cost = toNumber(value.cost) ?? 0
  if (cost > 0) usage.cost = cost
  return usage
}

/** Reads the usage object of any provider or framework: OpenAI, Anthropic, Gemini, Bedrock, LangChain, Vercel, … */
export function readUsageObject(value: unknown): RawUsage {
  const usage: RawUsage = {}
  if (isRecord(value)) addFrom(usage, value, topNames)
  return usage
}

/** Reads the breakdown of the input or output, which some senders write separately. */
export function readTokenDetails(value: unknown, side: 'input' | 'output'): RawUsage {
  const usage: RawUsage = {}
  if (isRecord(value)) addFrom(usage, value, side === 'input' ? inputDetails : outputDetails)
  return usage
}

/** Includes the cache in the input and reasoning in the output: the same call may be reported as 20 tokens or as 3,520. */
export function normalizeUsage(raw: RawUsage, { isCacheApart, isReasoningApart }: Counting = {}): Usage {
  const usage: Usage = {}
  const { input, output, total, reasoning = 0 } = raw
  // LangChain reports 0 written beside the tokens written for five minutes or an hour.
  const written = (raw.cacheWrite5m ?? 0) + (raw.cacheWrite1h ?? 0)
  if (written > (raw.cacheWrite ?? 0)) raw = { ...raw, cacheWrite: written }
  const cache = (raw.cacheRead ?? 0) + (raw.cacheWrite ?? 0)
  if (input !== undefined || cache > 0) {
    usage.input = isApart(raw, cache, isCacheApart) ? (input ?? 0) + cache : (input ?? cache)
  }
  if (reasoning > 0 && (isReasoningApart === true || leavesOutReasoning(raw, usage.input ?? 0)))
    usage.output = (output ?? 0) + reasoning
  else if (output !== undefined) usage.output = output
  for (const field of partFields) if (raw[field] !== undefined) usage[field] = raw[field]
  const known = (usage.input ?? 0) + (usage.output ?? 0)
  const isKnown = usage.input !== undefined || usage.output !== undefined
  if (isKnown || total !== undefined) usage.total = Math.max(known, total ?? 0)
  return usage
}

/** The figures decide whether the cache is counted apart from the input, and the sender's custom where they do not. */
function isApart(
  { input = 0, output = 0, total }: RawUsage,
  cache: number,
  custom: boolean | undefined,
): boolean {
  if (cache === 0) return false
  if (cache > input || total === input + output + cache) return true
  return custom === true
}

function leavesOutReasoning({ input = 0, output, total, reasoning = 0 }: RawUsage, fullInput: number) {
  if (output === undefined) return false
  const sum = output + reasoning
  return reasoning > output || total === input + sum || total === fullInput + sum
}

const partFields = [
  'cacheRead',
  'cacheWrite',
  'cacheWrite5m',
  'cacheWrite1h',
  'reasoning',
  'audioInput',
  'audioOutput',
  'imageInput',
] as const

/** Names at the top level of a usage object, in snake case. */
const topNames = namesOf({
  input: ['input_tokens', 'prompt_tokens', 'prompt_token_count', 'prompt_eval_count', 'tokens', 'input'],
  output: ['output_tokens', 'completion_tokens', 'candidates_token_count', 'eval_count', 'output'],
  total: ['total_tokens', 'total_token_count', 'total'],
  cacheRead: [
    'cache_read_input_tokens',
    'cached_input_tokens',
    'cached_content_token_count',
    'cached_content_tokens',
    'cached_prompt_tokens',
    'prompt_cached_tokens',
    'cached_tokens',
    'cache_read_tokens',
    'prompt_cache_hit_tokens',
  ],
  cacheWrite: [
    'cache_creation_input_tokens',
    'cache_write_input_tokens',
    'cache_creation_tokens',
    'cache_write_tokens',
  ],
  cacheWrite5m: ['ephemeral_5m_input_tokens'],
  cacheWrite1h: ['ephemeral_1h_input_tokens'],
  reasoning: ['reasoning_tokens', 'thoughts_token_count', 'thoughts_tokens', 'reasoning_output_tokens'],
})

const inputDetails = namesOf({
  cacheRead: ['cached_tokens', 'cache_read', 'cache_read_tokens', 'cache_read_input_tokens'],
  cacheWrite: ['cache_creation', 'cache_write', 'cache_write_tokens', 'cache_creation_tokens'],
  cacheWrite5m: ['ephemeral_5m_input_tokens'],
  cacheWrite1h: ['ephemeral_1h_input_tokens'],
  audioInput: ['audio_tokens', 'audio'],
  imageInput: ['image_tokens', 'image'],
})

const outputDetails = namesOf({
  reasoning: ['reasoning_tokens', 'thinking_tokens', 'reasoning'],
  audioOutput: ['audio_tokens', 'audio'],
})

const nested = new Map([
  ['prompt_tokens_details', inputDetails],
  ['input_tokens_details', inputDetails],
  ['input_token_details', inputDetails],
  ['prompt_token_details', inputDetails],
  ['completion_tokens_details', outputDetails],
  ['output_tokens_details', outputDetails],
  ['output_token_details', outputDetails],
  ['completion_token_details', outputDetails],
  ['candidates_tokens_details', outputDetails],
  ['cache_creation', topNames],
  ['usage', topNames],
  ['usage_metadata', topNames],
])

type Names = ReadonlyMap<string, keyof RawUsage>

function addFrom(usage: RawUsage, source: JsonObject, names: Names): void {
  for (const key of Object.keys(source)) {
    const name = toSnakeCase(key)
    const value = source[key]
    if (typeof value === 'object' && value !== null) {
      const inner = names === topNames ? nested.get(name) : undefined
      if (inner !== undefined)
        addFrom(usage, Array.isArray(value) ? byModality(value) : (value as JsonObject), inner)
      continue
    }
    const field = names.get(name)
    const count = field === undefined ? undefined : toTokens(value)
    if (field !== undefined && count !== undefined) usage[field] ??= count
  }
}

/** Gemini lists the parts of a count: [{ modality: 'AUDIO', tokenCount: 32 }]. */
function byModality(list: unknown[]): JsonObject {
  const counts: JsonObject = {}
  for (const item of list) {
    if (isRecord(item) && typeof item.modality === 'string')
      counts[item.modality.toLowerCase()] = item.tokenCount ?? item.token_count
  }
  return counts
}

function namesOf(table: { [Field in keyof RawUsage]?: string[] }): Names {
  const names = new Map<string, keyof RawUsage>()
  for (const [field, list] of Object.entries(table)) {
    for (const name of list) names.set(name, field as keyof RawUsage)
  }
  return names
}

export function toSnakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
