import {
  isAgentSpan,
  REDACTED,
  withoutContent,
  type Attributes,
  type AttributeValue,
  type Redactor,
} from '@playhead/model'
import { OWN_SCOPE, scopeOf, type RecordedSpan } from './recorded-span.ts'

export type OutgoingOptions = {
  redactor: Redactor
  /** True when the user gave rules of their own. */
  hasRules: boolean
  maxLength: number
  isContentKept: boolean
}

const MAX_LABEL_LENGTH = 32
const MAX_LABELS = 1024

/** The door: every value of a span passes here before it leaves the process or is shown in it. */
export class OutgoingValues {
  /** True when a value of the current span was cut. */
  isCut = false
  #maxLength = Infinity
  readonly #options: OutgoingOptions
  readonly #labels = new Map<string, string>()

  constructor(options: OutgoingOptions) {
    this.#options = options
  }

  /**
   * Begins with another span; gives those of its attributes that may leave. What our own steps hold was recorded within
   * bounds, and without content if so wished.
   */
  begin(span: RecordedSpan): Attributes {
    const attributes = span.attributes as Attributes
    const isOwn = scopeOf(span).name === OWN_SCOPE
    this.isCut = false
    this.#maxLength = isOwn ? Infinity : this.#options.maxLength
    return this.#options.isContentKept || isOwn ? attributes : withoutContent(attributes)
  }

  /** False when the attributes of events are content that nobody wants. */
  get areEventsKept(): boolean {
    return this.#options.isContentKept
  }

  text(text: string, key: string): string {
    const { redactor } = this.#options
    const maxLength = this.#maxLength
    const kept = text.length <= MAX_LABEL_LENGTH ? this.#label(text, key) : redactor.text(text, key)
    if (kept.length <= maxLength) return kept
    this.isCut = true
    return `${kept.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '')}… [${maxLength} of ${kept.length} characters]`
  }

  /** Names, kinds and models come over and over. Only what a rule can't treat by its key is remembered. */
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
        return value === null ? null : this.#list(key, value)
      default:
        return null
    }
  }

  #list(key: string, value: object): AttributeValue {
    if (Array.isArray(value)) return value.map((item) => this.value(key, item))
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
    const entries = Object.entries(value as Record<string, unknown>)
    return Object.fromEntries(entries.map(([name, item]) => [name, this.value(name, item)]))
  }
}

/** True for a span that belongs to the work of an agent, whoever wrote it. */
export function isOfAgent(span: RecordedSpan): boolean {
  const { name } = scopeOf(span)
  return name === OWN_SCOPE || isAgentSpan(name, span.attributes)
}
