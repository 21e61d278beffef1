import { isRecord, toText, type JsonObject } from '../json/attribute-value.ts'
import { toToolResult } from '../providers/parts.ts'
import { readToolCall } from '../providers/tool-use.ts'
import type { Message, Part } from '../session/message.ts'
import type { Dialect, KindResult, SpanReading } from './reading/dialect.ts'
import { ofKind } from './reading/kind-words.ts'
import { inputOf, outputOf } from './reading/payload.ts'

/** What a component of a pipeline is, by the end of its type. */
const components: [RegExp, KindResult['kind']][] = [
  [/Generator$/, 'llm'],
  [/Retriever$|Ranker$|WebSearch$/, 'retrieval'],
  [/Embedder$/, 'embedding'],
  [/^Agent$/, 'agent'],
]

/** Haystack's own spans, as its OpenTelemetry connector sends them. Contents need HAYSTACK_CONTENT_TRACING_ENABLED. */
export const haystack: Dialect = {
  name: 'haystack',
  signs: ['haystack.'],
  scopes: ['haystack'],
  texts: {
    toolName: ['haystack.tool.name'],
    toolDescription: ['haystack.tool.description'],
    haystackComponent: ['haystack.component.type'],
  },
  values: {
    input: [
      'haystack.agent.step.llm.input',
      'haystack.agent.step.tool.input',
      'haystack.agent.input',
      'haystack.component.input',
      'haystack.pipeline.input_data',
    ],
    output: [
      'haystack.agent.step.llm.output',
      'haystack.agent.step.tool.output',
      'haystack.agent.output',
      'haystack.component.output',
      'haystack.pipeline.output_data',
    ],
  },
  expand: readMeta,
  kind: readKind,
  inputMessages: (reading, kind) => (kind === 'llm' ? readMessages(inputOf(reading), 'messages') : undefined),
  outputMessages: (reading, kind) =>
    kind === 'llm' ? readMessages(outputOf(reading), 'replies') : undefined,
}

function readKind({ span, fields }: SpanReading): KindResult | undefined {
  if (span.name === 'haystack.agent.step.llm') return ofKind('llm')
  if (span.name === 'haystack.agent.step.tool') return ofKind('action')
  if (span.name === 'haystack.agent.run') return ofKind('agent')
  if (!span.name.startsWith('haystack.')) return undefined
  const type = fields.haystackComponent ?? ''
  return ofKind(components.find(([name]) => name.test(type))?.[1] ?? 'workflow')
}

/** The model and the usage of a reply are in the message. */
function readMeta(reading: SpanReading): void {
  const { fields } = reading
  if (typeof fields.output !== 'string' || !fields.output.includes('"replies"')) return
  const output = outputOf(reading)
  const reply: unknown = isRecord(output) && Array.isArray(output.replies) ? output.replies[0] : undefined
  if (!isRecord(reply) || !isRecord(reply.meta)) return
  const model = toText(reply.meta.model)
  if (model !== undefined) fields.responseModel ??= model
  if (isRecord(reply.meta.usage)) fields.usageObject ??= JSON.stringify(reply.meta.usage)
}

function readMessages(value: unknown, key: 'messages' | 'replies'): Message[] | undefined {
  const list: unknown = isRecord(value) ? value[key] : undefined
  if (!Array.isArray(list)) return undefined
  return list.filter(isRecord).map((message) => ({
    role: toText(message.role) ?? 'user',
    parts: Array.isArray(message.content) ? message.content.filter(isRecord).map(readPart) : [],
  }))
}

function readPart(raw: JsonObject): Part {
  if (isRecord(raw.tool_call)) return readToolCall(raw.tool_call)
  if (!isRecord(raw.tool_call_result)) return { type: 'text', text: toText(raw.text) ?? '' }
  const { result, origin, error } = raw.tool_call_result
  const { id, tool_name: name } = isRecord(origin) ? origin : {}
  return toToolResult({ content: result, tool_call_id: id, name, is_error: error })
}
