import { isRecord, toTokens, type JsonObject } from '../json/attribute-value.ts'

/** Token counts as somebody wrote them: what they include is not settled yet. */
export type RawUsage = {
  input?: number
  output?: number
  total?: number
  cacheRead?: number
  cacheWrite?: number
  cacheWrite5m?: number
  cacheWrite1h?: number
  reasoning?: number
  audioInput?: number
  audioOutput?: number
  imageInput?: number
}

/** Names at the top of a usage object, whatever the provider's case. */
const topNames = namesOf({
  input: ['input_tokens', 'prompt_tokens', 'prompt_token_count', 'tokens', 'input'],
  output: ['output_tokens', 'completion_tokens', 'candidates_token_count', 'output'],
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
  reasoning: ['reasoning_tokens', 'reasoning'],
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
  ['cache_creation', topNames],
  ['usage', topNames],
  ['usage_metadata', topNames],
])

/** Reads the usage object of any provider or framework: OpenAI, Anthropic, Gemini, Bedrock, LangChain, Vercel, … */
export function readUsageObject(value: unknown): RawUsage {
  const usage: RawUsage = {}
  if (isRecord(value)) addFrom(usage, value, topNames)
  return usage
}

/** Reads only the parts of the input, or of the output, that some senders write apart. */
export function readTokenDetails(value: unknown, side: 'input' | 'output'): RawUsage {
  const usage: RawUsage = {}
  if (isRecord(value)) addFrom(usage, value, side === 'input' ? inputDetails : outputDetails)
  return usage
}

type Names = ReadonlyMap<string, keyof RawUsage>

function addFrom(usage: RawUsage, source: JsonObject, names: Names): void {
  for (const key of Object.keys(source)) {
    const name = toSnakeCase(key)
    const value = source[key]
    if (isRecord(value)) {
      const inner = nested.get(name)
      if (inner !== undefined && names === topNames) addFrom(usage, value, inner)
      continue
    }
    const field = names.get(name)
    const count = field === undefined ? undefined : toTokens(value)
    if (field !== undefined && count !== undefined) usage[field] ??= count
  }
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
