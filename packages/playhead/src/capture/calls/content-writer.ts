import { Buffer } from 'node:buffer'
import {
  REDACTED,
  redactResponse,
  writeMessage,
  writePart,
  writeTool,
  type ConventionPart,
  type JsonObject,
  type ProviderMessage,
  type ProviderPart,
  type ToolDefinition,
} from '@playhead/model'
import type { CaptureOptions } from './active-capture.ts'
import { needsRedaction } from '../../record/value/serialize-value.ts'
import { truncateText, fitJson } from '../../record/value/fit-json.ts'

type ContentOptions = Pick<CaptureOptions, 'content' | 'redactText' | 'isSecretKey' | 'maxValueBytes'>

const NOT_RECORDED = '[not recorded]'
/** No message of a model is deeper. */
const MAX_DEPTH = 100

/** Writes messages, parts and tools as attribute values: redacted, truncated, and without text if content is off. */
export class ContentWriter {
  readonly #options: ContentOptions
  /** True once something was left out because of its size. */
  isTruncated = false

  constructor(options: ContentOptions) {
    this.#options = options
  }

  messages(messages: readonly ProviderMessage[]): string {
    return this.#write(
      messages.map(writeMessage).map((message) => ({
        ...message,
        parts: message.parts.map((part) => this.#part(part)),
      })),
    )
  }

  parts(parts: readonly ProviderPart[]): string {
    return this.#write(parts.map((part) => this.#part(writePart(part))))
  }

  tools(tools: readonly ToolDefinition[]): string {
    const isKept = this.#options.content
    return this.#write(
      tools
        .map(writeTool)
        .map((tool) => (isKept ? this.#redact(tool) : { type: tool.type, name: tool.name })),
    )
  }

  /**
   * The provider's own response. Left out if content is off or it is too long: half a response is no use to a later run.
   */
  response(body: JsonObject): string | undefined {
    if (!this.#options.content) return undefined
    const kept = Object.entries(body).filter(([field]) => !repeatedFields.has(field))
    const { redactText, isSecretKey = () => false } = this.#options
    const json = JSON.stringify(redactResponse(Object.fromEntries(kept), { text: redactText, isSecretKey }))
    return Buffer.byteLength(json) > this.#options.maxValueBytes ? undefined : json
  }

  /** For a text outside of messages, such as an error message or a parameter. */
  text(text: string): string {
    const { text: fitting, isTruncated } = truncateText(
      this.#options.redactText(text),
      this.#options.maxValueBytes,
    )
    this.isTruncated ||= isTruncated
    return fitting
  }

  #write(value: unknown[]): string {
    const { json, isTruncated } = fitJson(value, this.#options.maxValueBytes)
    this.isTruncated ||= isTruncated
    return json
  }

  #part(part: ConventionPart): unknown {
    if (part.type === 'blob') return this.#blob(part)
    return this.#options.content ? this.#redactPart(part) : withoutContent(part)
  }

  /** Secret keys only count inside tool arguments and results, not in the part itself. */
  #redactPart(part: ConventionPart): unknown {
    const { isSecretKey } = this.#options
    const entries = Object.entries(part).map(([key, value]: [string, unknown]) => [
      key,
      this.#redact(value, { depth: 1, ...(payloadKeys.has(key) && isSecretKey && { isSecretKey }) }),
    ])
    return Object.fromEntries(entries)
  }

  /** Large blobs are replaced by their size. */
  #blob(part: Extract<ConventionPart, { type: 'blob' }>): unknown {
    const { content, ...rest } = part
    const isLarge = content.length > this.#options.maxValueBytes / 4
    if (!isLarge && this.#options.content) return part
    if (isLarge) this.isTruncated = true
    return { ...rest, type: 'uri', uri: `blob:not-recorded?bytes=${Buffer.byteLength(content, 'base64')}` }
  }

  #redact(value: unknown, scope: RedactionScope = { depth: 0 }): unknown {
    if (typeof value === 'string') return this.#options.redactText(value)
    if (typeof value !== 'object' || value === null) return value
    if (scope.depth > MAX_DEPTH) return NOT_RECORDED
    const inner = { ...scope, depth: scope.depth + 1 }
    if (Array.isArray(value)) return value.map((item) => this.#redact(item, inner))
    const copy = Object.create(null) as Record<string, unknown>
    for (const [key, item] of Object.entries(value) as [string, unknown][])
      copy[key] = scope.isSecretKey?.(key) && needsRedaction(item) ? REDACTED : this.#redact(item, inner)
    return copy
  }
}

type RedactionScope = { depth: number; isSecretKey?: (key: string) => boolean }

/** What responses repeat from their request. */
const repeatedFields: ReadonlySet<string> = new Set(['tools', 'instructions', 'text', 'input', 'prompt'])

const payloadKeys: ReadonlySet<string> = new Set(['arguments', 'response', 'value'])

/** Keeps the structure of a part without its text. */
function withoutContent(part: ConventionPart): unknown {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      return { type: part.type, content: `[${part.content.length} characters]` }
    case 'tool_call':
    case 'server_tool_call':
      return { ...part, arguments: NOT_RECORDED }
    case 'tool_call_response':
    case 'server_tool_call_response':
      return { ...part, response: NOT_RECORDED }
    case 'uri':
      return { ...part, uri: 'blob:not-recorded' }
    case 'other':
      return { type: 'other', value: NOT_RECORDED }
    default:
      return part
  }
}
