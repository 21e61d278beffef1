import {
  REDACTED,
  withoutContent,
  type Attributes,
  type AttributeValue,
  type Redactor,
} from '@playhead/model'
import { toName } from '../value/host-value.ts'
import { isOwnSpan, type RecordedSpan } from './recorded-span.ts'

export type SanitizerOptions = {
  redactor: Redactor
  /** True if the user added redaction rules. */
  hasRules: boolean
  maxLength: number
  isContentKept: boolean
}

const MAX_LABEL_LENGTH = 32
const MAX_LABELS = 1024
const MAX_DEPTH = 16
/** Lists and objects in the attributes of one span. */
const MAX_NESTED = 10_000

/** Redacts and truncates every value of a span before it leaves the process or is shown in it. */
export class SpanSanitizer {
  /** True once a value of the current span was truncated. */
  isTruncated = false
  #maxLength = Infinity
  #depth = 0
  #nestedCount = 0
  readonly #options: SanitizerOptions
  readonly #labels = new Map<string, string>()

  constructor(options: SanitizerOptions) {
    this.#options = options
  }

  /**
   * Starts with another span and returns the attributes that may be kept. Our own spans respected the size and content
   * settings when they were recorded.
   */
  begin(span: RecordedSpan): Attributes {
    const attributes = span.attributes as Attributes
    const isOwn = isOwnSpan(span)
    this.isTruncated = false
    this.#nestedCount = 0
    this.#maxLength = isOwn ? Infinity : this.#options.maxLength
    return this.#options.isContentKept || isOwn ? attributes : withoutContent(attributes)
  }

  /** False if event attributes are dropped, because they may be content. */
  get areEventsKept(): boolean {
    return this.#options.isContentKept
  }

  /** `given` is a text, unless instrumentation broke its promise. */
  text(given: string, key: string): string {
    const text = typeof given === 'string' ? given : (toName(given) ?? '')
    const { redactor } = this.#options
    const maxLength = this.#maxLength
    const kept = text.length <= MAX_LABEL_LENGTH ? this.#label(text, key) : redactor.text(text, key)
    if (kept.length <= maxLength) return kept
    this.isTruncated = true
    return `${kept.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '')}… [${maxLength} of ${kept.length} characters]`
  }

  /** Names, kinds and models repeat, so they are cached; not with user rules, which may depend on the key. */
  #label(text: string, key: string): string {
    const { redactor, hasRules } = this.#options
    if (hasRules) return redactor.text(text, key)
    let label = this.#labels.get(text)
    if (label === undefined) {
      label = redactor.text(text, key)
      if (this.#labels.size >= MAX_LABELS) this.#labels.clear()
      this.#labels.set(text, label)
    }
    return label
  }

  value(key: string, value: unknown): AttributeValue {
    switch (typeof value) {
      case 'string':
        return this.#options.redactor.isSecretKey(key) && value !== '' ? REDACTED : this.text(value, key)
      case 'number':
        return this.#options.redactor.isSecretKey(key) ? REDACTED : value
      case 'boolean':
        return value
      case 'object':
        return value === null ? null : this.#nested(key, value)
      default:
        return null
    }
  }

  /** Attributes of the host's own tracer may be circular, or throw when they are read. */
  #nested(key: string, value: object): AttributeValue {
    this.#nestedCount += 1
    if (this.#depth >= MAX_DEPTH || this.#nestedCount > MAX_NESTED) return '[deeper]'
    this.#depth += 1
    try {
      return this.#list(key, value)
    } catch {
      return '[not readable]'
    } finally {
      this.#depth -= 1
    }
  }

  #list(key: string, value: object): AttributeValue {
    if (Array.isArray(value)) return value.map((item) => this.value(key, item))
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
    const entries = Object.entries(value as Record<string, unknown>)
    return Object.fromEntries(entries.map(([name, item]) => [name, this.value(name, item)]))
  }
}
