import { emptyAttributes, type Attributes, type Scope, type Span } from '@playhead/model'
import type { EncodedText } from '../log/encoded-text.ts'

/**
 * A span that was just decoded. It may know the JSON of its attributes; a copy of it never does, so that nobody who changes
 * attributes has to think of it.
 */
export class DecodedSpan implements Span {
  traceId = ''
  spanId = ''
  parentSpanId: string | null = null
  isParentRemote = false
  name = ''
  kind = 0
  startNs = 0n
  endNs: bigint | null = null
  statusCode = 0
  statusMessage = ''
  attributes = emptyAttributes()
  events: Span['events'] = []
  links: Span['links'] = []
  resource: Attributes
  scope: Scope
  #attributesJson: EncodedText | undefined

  constructor(resource: Attributes, scope: Scope) {
    this.resource = resource
    this.scope = scope
  }

  noteAttributesJson(text: EncodedText): void {
    this.#attributesJson = text
  }

  /** The JSON of a span's attributes, if it was written while they were decoded and is still there. */
  static attributesJsonOf(span: Span): EncodedText | undefined {
    const text = #attributesJson in span ? span.#attributesJson : undefined
    return text === undefined || text.isGone ? undefined : text
  }
}
