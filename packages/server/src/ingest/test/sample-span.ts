import { emptyAttributes, type Attributes, type AttributeValue, type Span } from '@playhead/model'

export function attributesOf(entries: Record<string, AttributeValue> = {}): Attributes {
  return Object.assign(emptyAttributes(), entries)
}

/** A good span, with some of its fields replaced. */
export function spanWith(fields: Partial<Span> = {}): Span {
  return {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    parentSpanId: null,
    isParentRemote: false,
    name: 'chat',
    kind: 3,
    startNs: 1_780_000_000_000_000_000n,
    endNs: 1_780_000_001_000_000_000n,
    statusCode: 0,
    statusMessage: '',
    attributes: attributesOf(),
    events: [],
    links: [],
    resource: attributesOf(),
    scope: { name: '', version: '' },
    ...fields,
  }
}

/** The same span in OTLP JSON. */
export function wireSpan(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    name: 'chat',
    kind: 3,
    startTimeUnixNano: '1780000000000000000',
    endTimeUnixNano: '1780000001000000000',
    ...fields,
  }
}

/** Returns what a function throws. */
export function errorOf(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}
