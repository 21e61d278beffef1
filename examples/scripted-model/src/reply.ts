import type { ModelRequest } from './model-request.ts'

/** A tool call that the model makes. */
export type ToolCall = { name: string; arguments?: unknown; id?: string }

/** `input` includes cached tokens, `output` includes reasoning. Omitted counts are estimated. */
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

/** What the model answers; a string is a reply with just that text. */
export type Reply =
  | string
  | {
      text?: string
      reasoning?: string
      /** Anthropic's encrypted thinking. */
      redactedReasoning?: string
      toolCalls?: ToolCall[]
      refusal?: string
      /** Further answers to the same request, for `n` > 1. */
      otherChoices?: string[]
      usage?: ReplyUsage
      /** In the provider's terms; derived from the rest when omitted. */
      finishReason?: string
      id?: string
      /** The model that answers; the requested one when omitted. */
      model?: string
      /** How a streamed text is split; by words when omitted. */
      chunks?: string[]
      /** Delay before the first byte. */
      delayMs?: number
      /** Delay before each streamed event but the first; a list is repeated. */
      chunkDelayMs?: number | readonly [number, ...number[]]
      /** Writes the body in slices of this size, splitting events and characters. */
      sliceBytes?: number
      /** Compresses the body. */
      encoding?: 'gzip' | 'br' | 'deflate'
      /** Closes the connection after this many streamed events. */
      cutAfterEvents?: number
      /** An error instead of an answer. */
      error?: ReplyError
      /** An error in the middle of a stream, after the text. */
      streamError?: { message: string; type?: string }
      /** Responds 200 with a body that is not JSON. */
      isMalformed?: boolean
      /** The exact body. */
      rawBody?: string
      headers?: Record<string, string>
    }

export type FullReply = Exclude<Reply, string>

/** A reply that calls one tool. */
export function callTool(name: string, toolArguments: unknown = {}): FullReply {
  return { toolCalls: [{ name, arguments: toolArguments }] }
}

/**
 * A rule that replies by turn: the first reply to the first request of a conversation, and so on, and the last reply from
 * then on. Each of several parallel conversations gets all replies.
 */
export function inTurns(...replies: [Reply, ...Reply[]]): (request: ModelRequest) => Reply {
  return ({ turn }) => replies[Math.min(turn, replies.length - 1)]!
}

export function toFullReply(reply: Reply): FullReply {
  return typeof reply === 'string' ? { text: reply } : reply
}
