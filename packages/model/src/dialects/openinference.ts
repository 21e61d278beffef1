import { mapWords } from '../json/word-table.ts'
import type { Message, Part } from '../session/message.ts'
import { firstText, isRecord, toText, type JsonObject } from '../json/attribute-value.ts'
import type { Dialect, KindResult, SpanReading } from './reading/dialect.ts'
import { unflattenList, type FlatEntry } from './reading/flattened-keys.ts'
import { parseJson } from '../json/json-text.ts'
import { parsePythonRepr } from '../json/python-repr.ts'
import { ofKind, kindOfWord } from './reading/kind-words.ts'
import { addToolCalls, normaliseRole } from '../providers/messages.ts'
import { toPart, toToolResult } from '../providers/parts.ts'
import { readToolCall } from '../providers/tool-use.ts'

const kinds = mapWords({
  llm: 'LLM',
  embedding: 'EMBEDDING',
  agent: 'AGENT',
  action: 'TOOL',
  workflow: 'CHAIN PROMPT',
  retrieval: 'RETRIEVER RERANKER',
  guardrail: 'GUARDRAIL',
  evaluator: 'EVALUATOR',
})

export const openInference: Dialect = {
  name: 'openinference',
  signs: [
    'openinference.',
    'llm.token_count.',
    'llm.input_messages.',
    'llm.output_messages.',
    'llm.invocation_parameters',
    'llm.model_name',
    'retrieval.documents.',
    'reranker.',
    'embedding.embeddings.',
  ],
  // traceAI is OpenInference with messages below the keys of the standard.
  scopes: ['openinference', '@arizeai/openinference', 'traceai'],
  numbers: {
    inputTokens: ['llm.token_count.prompt'],
    outputTokens: ['llm.token_count.completion'],
    totalTokens: ['llm.token_count.total'],
    cacheReadTokens: [
      'llm.token_count.prompt_details.cache_read',
      'llm.token_count.prompt_details.cache_input',
    ],
    cacheWriteTokens: ['llm.token_count.prompt_details.cache_write'],
    reasoningTokens: ['llm.token_count.completion_details.reasoning'],
    audioInputTokens: ['llm.token_count.prompt_details.audio'],
    audioOutputTokens: ['llm.token_count.completion_details.audio'],
    cost: ['llm.cost.total'],
    inputCost: ['llm.cost.prompt'],
    outputCost: ['llm.cost.completion'],
  },
  texts: {
    openInferenceKind: ['openinference.span.kind'],
    requestModel: ['llm.request.model_name', 'embedding.model_name', 'reranker.model_name'],
    responseModel: ['llm.response.model_name'],
    model: ['llm.model_name'],
    provider: ['llm.provider', 'llm.system'],
    toolName: ['tool.name'],
    toolCallId: ['tool_call.id', 'tool.id'],
    toolDescription: ['tool.description'],
    agentName: ['agent.name'],
    graphNode: ['graph.node.name', 'graph.node.id'],
    inputMimeType: ['input.mime_type'],
    outputMimeType: ['output.mime_type'],
    retrievalQuery: ['reranker.query'],
  },
  values: {
    input: ['input.value'],
    output: ['output.value'],
    toolParameters: ['tool.parameters'],
    invocationParameters: ['llm.invocation_parameters', 'gen_ai.request.parameters'],
    finishReasons: ['llm.finish_reason'],
    tags: ['tag.tags'],
    metadata: ['metadata'],
  },
  groups: {
    'annotations.': 'annotations',
    'evaluations.': 'annotations',
    'trace.annotations.': 'sessionAnnotations',
    'trace.evaluations.': 'sessionAnnotations',
    'session.annotations.': 'sessionAnnotations',
    'session.evaluations.': 'sessionAnnotations',
    'llm.input_messages.': 'inputMessages',
    'llm.output_messages.': 'outputMessages',
    'gen_ai.input.messages.': 'inputMessages',
    'gen_ai.output.messages.': 'outputMessages',
    'llm.prompts.': 'promptTexts',
    'llm.choices.': 'choiceTexts',
    'llm.tools.': 'toolSchemas',
    'retrieval.documents.': 'documents',
    'reranker.output_documents.': 'rerankedDocuments',
    'embedding.embeddings.': 'embeddings',
  },
  kind: readKind,
  inputMessages: ({ groups, fields }) =>
    completeMessages(readMessages(groups.inputMessages, 'user'), fields.input, 'messages') ??
    readTexts(groups.promptTexts, 'prompt', 'user'),
  outputMessages: ({ groups, fields }) =>
    completeMessages(readMessages(groups.outputMessages, 'assistant'), fields.output, 'replies') ??
    readTexts(groups.choiceTexts, 'completion', 'assistant'),
  excludesCache: ({ span }) => span.scope.name === '@arizeai/openinference-instrumentation-bedrock',
}

const openAiAgents = /openai[-_]agents$/
const handoffName = /^handoff to /i

/** A method that a client keeps to itself, as LlamaIndex's `OpenAI._prepare_chat_with_tools`, calls no model. */
const privateMethod = /^\w+\._[a-z]\w*$/

/** OpenInference has no kind for handoffs: they are tools with such a name. */
function readKind({ fields, span }: SpanReading): KindResult | undefined {
  const kind = fields.openInferenceKind?.toUpperCase()
  if (kind === 'LLM' && privateMethod.test(span.name)) return ofKind('workflow')
  // The root of OpenAI Agents is the trace of a run, not an agent.
  const isRun = kind === 'AGENT' && span.parentSpanId === null && openAiAgents.test(span.scope.name)
  if (isRun && fields.agentName === undefined && fields.graphNode === undefined) return ofKind('workflow')
  const isHandoff = handoffName.test(span.name) || fields.toolName?.startsWith('handoff_to_') === true
  return kind === 'TOOL' && isHandoff ? ofKind('handoff') : kindOfWord(kinds, kind)
}

function readMessages(entries: FlatEntry[] | undefined, role: string): Message[] | undefined {
  if (entries === undefined) return undefined
  const messages: Message[] = []
  for (const item of unflattenList(entries)) {
    if (isRecord(item) && isRecord(item.message)) messages.push(readMessage(item.message, role))
  }
  // Of a dict that LangChain was called with, only the role arrives.
  return messages.every(({ parts }) => parts.length === 0) ? undefined : messages
}

function readMessage(raw: JsonObject, defaultRole: string): Message {
  // The results in Anthropic's messages of a user.
  const role = toText(raw.tool_call_id) === undefined ? normaliseRole(raw.role, defaultRole) : 'tool'
  const message: Message = { role, parts: role === 'tool' ? [readToolResult(raw)] : readContent(raw) }
  const calls = Array.isArray(raw.tool_calls) ? raw.tool_calls : []
  addToolCalls(
    message.parts,
    calls.map((call) => (isRecord(call) ? (call.tool_call ?? call) : call)),
  )
  const legacyName = toText(raw.function_call_name)
  if (legacyName !== undefined) {
    message.parts.push(readToolCall({ name: legacyName, arguments: raw.function_call_arguments_json }))
  }
  const name = toText(raw.name)
  if (name !== undefined) message.name = name
  return message
}

function readContent(raw: JsonObject): Part[] {
  const text = toText(raw.content)
  const parts: Part[] = text === undefined ? [] : [{ type: 'text', text }]
  if (!Array.isArray(raw.contents)) return parts
  // OpenAI Agents' instrumentation writes the same text in both places.
  if (text !== undefined && textsOf(raw.contents) === text) parts.length = 0
  for (const item of raw.contents) {
    if (!isRecord(item)) continue
    const content = isRecord(item.message_content) ? item.message_content : {}
    if (isRecord(item.tool_call)) parts.push(readToolCall(item.tool_call))
    else parts.push(readContentItem(content))
  }
  return parts
}

/** `image.image.url`: the innermost object holds the address. */
function readContentItem(content: JsonObject): Part {
  for (const modality of ['image', 'audio', 'video']) {
    const outer = content[modality]
    if (isRecord(outer)) return toPart({ type: modality, [modality]: outer[modality] ?? outer })
  }
  const isText = content.type === undefined && typeof content.text === 'string'
  return toPart(isText ? { type: 'text', text: content.text } : content)
}

function readToolResult(raw: JsonObject): Part {
  const content = raw.content ?? (Array.isArray(raw.contents) ? textsOf(raw.contents) : undefined)
  const shape: JsonObject = { content, tool_call_id: raw.tool_call_id }
  if (raw.name !== undefined) shape.name = raw.name
  return toToolResult(shape)
}

function textsOf(contents: unknown[]): string {
  return contents
    .map((item) =>
      isRecord(item) && isRecord(item.message_content) ? firstText(item.message_content.text) : '',
    )
    .join('\n')
}

/** Completions from before chat messages: `llm.prompts.0.prompt.text`. */
function readTexts(entries: FlatEntry[] | undefined, key: string, role: string): Message[] | undefined {
  const texts: string[] = []
  for (const item of unflattenList(entries)) {
    const inner = isRecord(item) ? item[key] : item
    const text = firstText(isRecord(inner) ? inner.text : parseJson(inner))
    if (text !== undefined) texts.push(text)
  }
  return texts.length === 0 ? undefined : texts.map((text) => ({ role, parts: [{ type: 'text', text }] }))
}

/** Of Haystack's messages, tool calls have no id and results no content. The payload has both, as Python prints them. */
function completeMessages(
  messages: Message[] | undefined,
  payload: unknown,
  key: 'messages' | 'replies',
): Message[] | undefined {
  if (messages === undefined || typeof payload !== 'string' || !payload.includes('"ChatMessage('))
    return messages
  const parsed = parseJson(payload)
  const printed: unknown = isRecord(parsed) ? parsed[key] : undefined
  if (!Array.isArray(printed) || printed.length !== messages.length) return messages
  return messages.map((message, index) => {
    const value = typeof printed[index] === 'string' ? parsePythonRepr(printed[index]) : undefined
    const content: unknown = isRecord(value) ? value._content : undefined
    if (!Array.isArray(content)) return message
    const parts = content.filter(isRecord).flatMap(readPrintedPart)
    return parts.length === 0 ? message : { ...message, parts }
  })
}

function readPrintedPart(raw: JsonObject): Part[] {
  if (typeof raw.text === 'string') return [{ type: 'text', text: raw.text }]
  if (raw.tool_name !== undefined) return [readToolCall(raw)]
  if (!isRecord(raw.origin)) return []
  const { id, tool_name: name } = raw.origin
  return [toToolResult({ content: raw.result, tool_call_id: id, name, is_error: raw.error })]
}
