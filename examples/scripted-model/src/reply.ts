import type { ModelRequest } from './model-request.ts'

/** A tool that the model asks for. */
export type ToolCall = { name: string; arguments?: unknown; id?: string }

/** Tokens as we count them: `input` includes the cache, `output` includes reasoning. What is left out is made up. */
export type ReplyUsage = {
  input?: number
  output?: number
  cacheRead?: number
  cacheWrite?: number
  cacheWrite5m?: number
  cacheWrite1h?: number
  reasoning?: number
  audioInput?: number
}

export type ReplyError = { status: number; message?: string; type?: string; retryAfterSeconds?: number }

/** What the model answers. A text alone is a reply that says just that. */
export type Reply =
  | string
  | {
      text?: string
      reasoning?: string
      /** Anthropic's thinking that nobody may read. */
      redactedReasoning?: string
      toolCalls?: ToolCall[]
      refusal?: string
      /** Further answers to the same request, for `n` > 1. */
      otherChoices?: string[]
      usage?: ReplyUsage
      /** In the provider's words; made up from the rest when left out. */
      finishReason?: string
      id?: string
      /** The model that answers; the requested one when left out. */
      model?: string
      /** How a streamed text is cut; by words when left out. */
      chunks?: string[]
      /** Before anything is sent. */
      delayMs?: number
      /** Before each streamed event but the first; a list is gone through again and again. */
      chunkDelayMs?: number | readonly [number, ...number[]]
      /** Writes the body in pieces of so many bytes, so that events and characters are torn apart. */
      sliceBytes?: number
      /** Compresses the body. */
      encoding?: 'gzip' | 'br' | 'deflate'
      /** Closes the connection after so many streamed events. */
      cutAfterEvents?: number
      /** An error instead of an answer. */
      error?: ReplyError
      /** An error in the middle of a stream, after the text. */
      streamError?: { message: string; type?: string }
      /** Success with a body that is not JSON. */
      isMalformed?: boolean
      /** The whole body, word for word. */
      rawBody?: string
      headers?: Record<string, string>
    }

export type FullReply = Exclude<Reply, string>

/** A reply that asks for one tool. */
export function callTool(name: string, toolArguments: unknown = {}): FullReply {
  return { toolCalls: [{ name, arguments: toolArguments }] }
}

/**
 * A rule that answers by the conversation's turn: the first reply to a request without an answer in it, the second to
 * one with one answer, and the last from then on. Conversations in parallel each go through all of them.
 */
export function inTurns(...replies: [Reply, ...Reply[]]): (request: ModelRequest) => Reply {
  return ({ turn }) => replies[Math.min(turn, replies.length - 1)]!
}

export function toFullReply(reply: Reply): FullReply {
  return typeof reply === 'string' ? { text: reply } : reply
}
