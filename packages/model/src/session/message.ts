/** One message of a conversation with a model, whatever provider or framework wrote it. */
export type Message = {
  role: 'system' | 'user' | 'assistant' | 'tool' | (string & {})
  name?: string
  parts: Part[]
  finishReason?: string
  /** True for what the model replied, absent for what it was sent. */
  isOutput?: boolean
}

export type Part =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text?: string; signature?: string; isRedacted?: boolean }
  | { type: 'tool-call'; id?: string; name: string; arguments: unknown }
  | { type: 'tool-result'; id?: string; name?: string; result: unknown; isError?: boolean }
  | { type: 'media'; modality: string; mimeType?: string; uri?: string; base64?: string; fileId?: string }
  | { type: 'other'; raw: unknown }

/** A tool that was offered to the model. */
export type ToolDefinition = { name: string; description?: string; parameters?: unknown; type?: string }
