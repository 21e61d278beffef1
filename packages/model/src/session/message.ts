/** One message of a conversation with a model, whatever provider or framework wrote it. */
export type Message = {
  role: 'system' | 'user' | 'assistant' | 'tool' | (string & {})
  name?: string
  parts: Part[]
  finishReason?: string
  /** True for what the model replied, absent for what it was sent. */
  isOutput?: boolean
}

/** `isServerSide`: the provider ran the tool itself; the agent never saw the call. */
export type Part =
  | { type: 'text'; text: string }
  | { type: 'refusal'; text: string }
  | { type: 'reasoning'; text?: string; signature?: string; isRedacted?: boolean }
  | { type: 'tool-call'; id?: string; name: string; arguments: unknown; isServerSide?: boolean }
  | {
      type: 'tool-result'
      id?: string
      name?: string
      result: unknown
      isError?: boolean
      isServerSide?: boolean
    }
  | { type: 'media'; modality: string; mimeType?: string; uri?: string; base64?: string; fileId?: string }
  | { type: 'other'; raw: unknown }

/** What a part says in words; a refusal is words too. */
export function wordsOf(part: Part): string {
  return part.type === 'text' || part.type === 'refusal' ? part.text : ''
}

/** A tool that was offered to the model. */
export type ToolDefinition = { name: string; description?: string; parameters?: unknown; type?: string }
