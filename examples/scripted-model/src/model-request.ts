import type { JsonObject } from './json.ts'

export type ApiName =
  | 'openai.chat'
  | 'openai.completions'
  | 'openai.responses'
  | 'openai.embeddings'
  | 'anthropic.messages'
  | 'gemini.generate'
  | 'gemini.embed'
  | 'ollama.chat'

export type ToolResult = { id?: string; name?: string; result: unknown }

export type RequestMessage = {
  role: 'system' | 'user' | 'assistant' | 'tool'
  text: string
  toolCalls: { id?: string; name: string; arguments: unknown }[]
  toolResults: ToolResult[]
}

export type OfferedTool = { name: string; parameters?: unknown }

/** A request as rules see it, in the same form for every API. */
export type ModelRequest = {
  api: ApiName
  model: string
  isStream: boolean
  messages: RequestMessage[]
  tools: OfferedTool[]
  /** How often the model has answered in this conversation. */
  turn: number
  /** The last message of the user. */
  userText: string
  /** Tool results since the model's last answer. */
  toolResults: ToolResult[]
  /** The JSON schema that the answer must follow, if any. */
  schema?: unknown
  path: string
  headers: Record<string, string>
  body: JsonObject
}

export type RequestParts = Pick<
  ModelRequest,
  'api' | 'model' | 'isStream' | 'messages' | 'tools' | 'body'
> & {
  schema?: unknown
}

/** Adds the fields that are derived from the messages. */
export function completeRequest(
  parts: RequestParts,
  { path, headers }: { path: string; headers: Record<string, string> },
): ModelRequest {
  const { messages } = parts
  const lastAnswer = messages.findLastIndex(({ role }) => role === 'assistant')
  const lastUser = messages.findLast(({ role, text }) => role === 'user' && text !== '')
  return {
    ...parts,
    turn: messages.filter(({ role }, index) => role === 'assistant' && messages[index - 1]?.role !== role)
      .length,
    userText: lastUser?.text ?? '',
    toolResults: messages.slice(lastAnswer + 1).flatMap(({ toolResults }) => toolResults),
    path,
    headers,
  }
}

export function emptyMessage(role: RequestMessage['role'], text = ''): RequestMessage {
  return { role, text, toolCalls: [], toolResults: [] }
}
