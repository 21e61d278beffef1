import type { Attributes, Span } from '../../otlp/span.ts'
import { isMeaningful, toCount, toText, toTokens } from '../../json/attribute-value.ts'
import type { SpanReading } from './dialect.ts'
import { ALWAYS, ask, type DialectSet } from './dialect-set.ts'
import { emptyFields, type Fields } from './fields.ts'
import { slotCount, type KeyMeaning } from './key-meaning.ts'

const NO_RANK = 65_535
/** The ranks of the values found so far, by field. Shared, because one span is read at a time. */
const ranks = new Uint16Array(slotCount)

/** Sorts a span's attributes by meaning, in one pass over its keys. */
export function readSpan(span: Span, dialects: DialectSet, isOutlineOnly = false): SpanReading {
  const reading: SpanReading = {
    span,
    fields: emptyFields(),
    groups: {},
    dialects,
    signs: ALWAYS | dialects.keys.signsOfScope(span.scope.name),
    failures: [],
    isOutlineOnly,
    isTruncated: false,
    parsed: {},
  }
  readAttributes(span.attributes, reading)
  for (const { dialect, bit } of dialects.expandOrder)
    if ((reading.signs & bit) !== 0) ask(dialect, 'expand', reading)
  return reading
}

/** The fields of a resource. */
export function readResource(resource: Attributes, dialects: DialectSet): Fields {
  let fields = dialects.resources.get(resource)
  if (fields === undefined) {
    const reading = { fields: emptyFields(), groups: {}, dialects, signs: 0 }
    readAttributes(resource, reading)
    fields = reading.fields
    dialects.resources.set(resource, fields)
  }
  return fields
}

type Sorted = Pick<SpanReading, 'fields' | 'groups' | 'dialects' | 'signs'>

function readAttributes(attributes: Attributes, reading: Sorted): void {
  const { groups } = reading
  const { keys } = reading.dialects
  const fields = reading.fields as Record<string, unknown>
  let { signs } = reading
  ranks.fill(NO_RANK)
  for (const key of Object.keys(attributes)) {
    const meaning = keys.meaningOf(key)
    signs |= meaning.signs
    const raw = attributes[key]!
    if (meaning.field !== undefined) {
      if (meaning.rank >= ranks[meaning.slot]!) continue
      const value = coerce(raw, meaning.type)
      if (value === undefined) continue
      fields[meaning.field] = value
      ranks[meaning.slot] = meaning.rank
    } else if (meaning.group !== undefined) {
      const entry = { path: meaning.path, value: raw }
      const entries = groups[meaning.group]
      if (entries === undefined) groups[meaning.group] = [entry]
      else entries.push(entry)
    }
  }
  reading.signs = signs
}

function coerce(raw: unknown, type: KeyMeaning['type']): unknown {
  if (type === 'tokens') return toTokens(raw)
  if (type === 'number') return toCount(raw)
  if (type === 'text') return toText(raw)
  return isMeaningful(raw) ? raw : undefined
}
