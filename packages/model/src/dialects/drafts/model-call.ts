import { mapWords, wordsIn } from '../../json/word-table.ts'
import type { StepKind } from '../../session/step.ts'
import { toText, isMeaningful, isRecord, toCount } from '../../json/attribute-value.ts'
import type { SpanReading } from '../reading/dialect.ts'
import { hasUsageField } from './usage-of-span.ts'
import { parseJsonText, parseJson } from '../../json/json-text.ts'
import { invocationOf } from '../reading/payload.ts'
import { modelOf } from '../../providers/payload.ts'
import type { FlatEntry } from '../reading/flattened-keys.ts'
import { parameterName } from '../reading/parameter-name.ts'

export type ModelOfSpan = { model?: string; requestedModel?: string; provider?: string }

/** The model that responded, the requested one if it differs, and the provider. */
export function modelOfSpan(reading: SpanReading, kind: StepKind, response: unknown): ModelOfSpan {
  const { fields } = reading
  const isModelKind = kind === 'llm' || kind === 'embedding'
  const isBareBelieved = isModelKind || hasUsageField(fields)
  const requested = unquote(fields.requestModel) ?? (isModelKind ? modelOf(invocationOf(reading)) : undefined)
  const answered = unquote(fields.responseModel) ?? answeredModel(fields.model, modelOf(response))
  const bare = isBareBelieved ? unquote(fields.bareModel) : undefined
  const genkitName = kind === 'llm' && fields.genkitSubtype === 'model' ? fields.entityName : undefined
  const model = answered ?? requested ?? bare ?? genkitName
  const found: ModelOfSpan = {}
  if (model !== undefined) found.model = model
  if (requested !== undefined && requested !== model) found.requestedModel = requested
  if (model !== undefined || isModelKind) {
    const provider = normaliseProvider(unquote(fields.provider)) ?? providerOfModel(model)
    if (provider !== undefined) found.provider = provider
  }
  return found
}

/** Some senders report only the requested model; the response has the full name. */
function answeredModel(named: string | undefined, inResponse: string | undefined): string | undefined {
  if (named === undefined) return inResponse
  return inResponse?.startsWith(named) === true ? inResponse : named
}

/** MLflow quotes its texts. */
function unquote(text: string | undefined): string | undefined {
  return text !== undefined && text.startsWith('"') ? toText(parseJsonText(text)) : text
}

/** Values that name a framework instead of a provider. */
const frameworks = new Set(
  wordsIn(`
    langchain langgraph crewai strands-agents strands gcp.vertex.agent firstparty pydantic-ai
    pydantic_ai agent_framework microsoft.agent_framework autogen llama_index litellm unknown
  `),
)

const aliases = mapWords({
  openai: 'openai',
  anthropic: 'anthropic',
  'azure.ai.openai': 'az.ai.openai azure azure-openai azure_openai',
  'azure.ai.inference': 'az.ai.inference',
  'gcp.vertex_ai': 'vertex_ai vertexai google_vertexai google-vertex google.vertex',
  'gcp.gemini': 'gcp.gen_ai gemini google google_genai google-genai googleai',
  'aws.bedrock': 'aws bedrock amazon-bedrock amazon amazon_bedrock',
  x_ai: 'xai',
  mistral_ai: 'mistralai mistral',
})

/** Providers with dots in the semantic conventions; elsewhere a dot starts the API name: `openai.chat`. */
const dotted = /^(?:azure\.ai|az\.ai|aws|gcp|ibm|google\.vertex)\b/

/** The canonical name of a provider; undefined for anything else. */
function normaliseProvider(provider: string | undefined): string | undefined {
  if (provider === undefined) return undefined
  const known = aliases.get(provider)
  if (known !== undefined) return known
  const word = provider.toLowerCase()
  if (frameworks.has(word)) return undefined
  if (word.startsWith('google.vertex')) return 'gcp.vertex_ai'
  if (dotted.test(word)) return word
  const owner = word.split('.', 1)[0]!
  return aliases.get(word) ?? aliases.get(owner) ?? owner
}

const families: [RegExp, string][] = [
  [/^(?:[a-z]{2,4}\.)?(?:anthropic|amazon|meta|cohere|mistral|ai21)\.[a-z]/, 'aws.bedrock'],
  [/^(?:gpt-|chatgpt|o[1-9](?:-|$)|text-embedding|davinci|dall-e|whisper|tts-|codex)/, 'openai'],
  [/claude/, 'anthropic'],
  [/gemini|gemma/, 'gcp.gemini'],
  [/mistral|mixtral|codestral|ministral|magistral/, 'mistral_ai'],
  [/^grok/, 'x_ai'],
  [/deepseek/, 'deepseek'],
  [/^command|^rerank-|^embed-/, 'cohere'],
]

/** Guesses the provider by the model's name. */
export function providerOfModel(model: string | undefined): string | undefined {
  if (model === undefined) return undefined
  const name = model.toLowerCase().replace(/^(?:models\/|openai\/|anthropic\/|google\/)/, '')
  return families.find(([pattern]) => pattern.test(name))?.[1]
}

/** The parameters of a model call: temperature, limits, tool choice, … */
export function parametersOfSpan(reading: SpanReading): Record<string, unknown> | undefined {
  const { fields, groups } = reading
  const found: Record<string, unknown> = {}
  addEntries(found, groups.parameters)
  if (fields.isStreaming !== undefined) add(found, 'stream', fields.isStreaming)
  const given = invocationOf(reading)
  if (isRecord(given)) for (const key of Object.keys(given)) add(found, key, given[key])
  addEntries(found, groups.looseParameters)
  const choice = reading.span.attributes['ai.prompt.toolChoice']
  if (choice !== undefined) add(found, 'tool_choice', parseJson(choice))
  return isMeaningful(found) ? found : undefined
}

/** The paths of these entries already have canonical names. */
function addEntries(found: Record<string, unknown>, entries: FlatEntry[] | undefined): void {
  if (entries === undefined) return
  for (const { path, value } of entries) if (isMeaningful(value)) found[path[0]!] ??= value
}

function add(found: Record<string, unknown>, key: string, value: unknown): void {
  const name = parameterName(key)
  if (name !== undefined && isMeaningful(value)) found[name] ??= value
}

/** US dollars as reported by the sender. Ignores a 0 for a call with tokens, which means that the price was unknown. */
export function reportedCost({ fields }: SpanReading, hasTokens: boolean): number | undefined {
  const cost =
    costOfObject(parseJson(fields.costObject)) ?? fields.cost ?? sumOf(fields.inputCost, fields.outputCost)
  return cost === 0 && hasTokens ? undefined : cost
}

function costOfObject(value: unknown): number | undefined {
  if (!isRecord(value)) return toCount(value)
  const total = toCount(value.total) ?? toCount(value.total_cost)
  if (total !== undefined) return total
  let sum: number | undefined
  for (const part of Object.values(value)) sum = sumOf(sum, toCount(part))
  return sum
}

function sumOf(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined ? right : left + (right ?? 0)
}
