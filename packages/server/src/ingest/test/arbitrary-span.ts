import { emptyAttributes, type Attributes, type AttributeValue, type Span } from '@playhead/model'
import * as fc from 'fast-check'
import { MAX_TIME_NS, MIN_TIME_NS } from '../limits.ts'

export const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary', maxLength: 300 }),
)
const number = fc
  .oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .map((value) => value + 0)
const key = fc.oneof(anyText, fc.constantFrom('__proto__', 'constructor', 'toString', '0', '4294967295', ''))
export const { bag: anyAttributes } = fc.letrec<{ value: AttributeValue; bag: Attributes }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    anyText,
    fc.constant(null),
    fc.boolean(),
    number,
    fc.array(tie('value'), { maxLength: 4 }),
    tie('bag'),
  ),
  bag: fc
    .array(fc.tuple(key, tie('value')), { maxLength: 6 })
    .map((entries) => Object.assign(emptyAttributes(), fromEntries(entries))),
}))
const time = fc.bigInt({ min: MIN_TIME_NS, max: MAX_TIME_NS - 1n })
const idOf = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((list) => Buffer.from([1, ...list.slice(1)]).toString('hex'))
/** Any valid span, from the earliest to the latest time that is accepted. */
export const anySpan: fc.Arbitrary<Span> = fc
  .record({
    traceId: idOf(16),
    spanId: idOf(8),
    parentSpanId: fc.option(idOf(8)),
    isParentRemote: fc.boolean(),
    name: anyText,
    kind: fc.nat({ max: 5 }),
    startNs: time,
    lastsNs: fc.option(fc.bigInt({ min: 0n, max: 10n ** 15n })),
    statusCode: fc.nat({ max: 2 }),
    statusMessage: anyText,
    attributes: anyAttributes,
    events: fc.array(fc.record({ name: anyText, timeNs: time, attributes: anyAttributes }), { maxLength: 3 }),
    links: fc.array(fc.record({ traceId: idOf(16), spanId: idOf(8), attributes: anyAttributes }), {
      maxLength: 2,
    }),
    resource: fc.oneof(anyAttributes, fc.constantFrom(resourceNamed('a'), resourceNamed('b'))),
    scope: fc.record({ name: fc.constantFrom('', 'ai', 'genai'), version: fc.constantFrom('', '1.0') }),
  })
  .map(({ lastsNs, ...rest }) => ({ ...rest, endNs: endOf(rest.startNs, lastsNs) }))
export const anySpans = fc.uniqueArray(anySpan, { maxLength: 8, selector: ({ spanId }) => spanId })

export function fromEntries(entries: [string, AttributeValue][]): Attributes {
  const attributes = emptyAttributes()
  for (const [name, entry] of entries) attributes[name] = entry
  return attributes
}

export function resourceNamed(name: string): Attributes {
  return fromEntries([['service.name', name]])
}

function endOf(startNs: bigint, lastsNs: bigint | null): bigint | null {
  if (lastsNs === null) return null
  const endNs = startNs + lastsNs
  return endNs < MAX_TIME_NS ? endNs : MAX_TIME_NS - 1n
}
