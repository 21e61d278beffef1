import type { Attributes } from '@opentelemetry/api'
import type { Usage } from '@playhead/model'
import type { JsonObject } from '../json-value.ts'

/** What a call does, in the words of the semantic conventions. */
export type Operation = 'chat' | 'text_completion' | 'embeddings' | 'generate_content'

/** One part of a message as the semantic conventions write it, and what they have no words for. */
export type MessagePart =
  | { type: 'text'; content: string }
  | { type: 'refusal'; content: string }
  | { type: 'reasoning'; content: string }
  | { type: 'redacted_thinking' }
  | { type: 'tool_call' | 'server_tool_call'; id?: string; name: string; arguments: unknown }
  | {
      type: 'tool_call_response' | 'server_tool_call_response'
      id?: string
      name?: string
      response: unknown
      is_error?: true
    }
  | { type: 'blob'; modality: string; mime_type?: string; content: string }
  | { type: 'uri'; modality: string; mime_type?: string; uri: string }
  | { type: 'file'; modality: string; mime_type?: string; file_id: string }
  | { type: 'other'; value: unknown }

export type ChatMessage = { role: string; name?: string; parts: MessagePart[]; finish_reason?: string }

export type ToolDefinition = { type: string; name: string; description?: string; parameters?: unknown }

/** What a request asks for. */
export type Question = {
  operation: Operation
  model?: string
  isStream: boolean
  system?: MessagePart[]
  messages?: ChatMessage[]
  tools?: ToolDefinition[]
  /** Further attributes: `gen_ai.request.temperature` and the like. */
  attributes: Attributes
}

/** Tokens with the cache inside the input and reasoning inside the output, whoever reports them. */
export type TokenUsage = Omit<Usage, 'total'> & {
  /** US dollars, from gateways that say so. */
  cost?: number
}

export type ProviderError = { type: string; message: string }

/** What a response says. */
export type Answer = {
  id?: string
  model?: string
  messages: ChatMessage[]
  finishReasons: string[]
  usage?: TokenUsage
  attributes?: Attributes
  /** A failure that came as a success. */
  error?: ProviderError
}

/** What one streamed event brought. */
export type StreamedPiece = {
  /** What the reader of the answer sees appear. */
  text?: string
  /** True when the model made it: text, reasoning, or a piece of a tool's arguments. */
  isToken: boolean
  /** True when nothing can follow. */
  isLast: boolean
}

/** Puts a stream together into the response that would have come at once. */
export type Assembler = {
  add(event: JsonObject): StreamedPiece
  whole(): JsonObject
}

/** One way to talk to a model over HTTP. */
export type ModelApi = {
  readQuestion(body: JsonObject, url: URL): Question
  readAnswer(body: JsonObject): Answer
  createAssembler(): Assembler
}
