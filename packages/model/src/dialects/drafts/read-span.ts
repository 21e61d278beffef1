import type { Attributes, Span } from '../../otlp/span.ts'
import { expandOrder } from '../all-dialects.ts'
import { isMeaningful, toCount, toText, toTokens } from '../../json/attribute-value.ts'
import { ALWAYS, type Reading } from '../reading/dialect.ts'
import { emptyFields, type Fields } from '../reading/fields.ts'
import { meaningOf, signsOfScope, slotCount, type KeyMeaning } from './key-meaning.ts'

const NO_RANK = 65_535
/** Ranks of the values found so far, by field; one span is read at a time. */
const ranks = new Uint16Array(slotCount)

/** Sorts a span's attributes by meaning, in one pass over its keys. */
export function readSpan(span: Span): Reading {
  const reading: Reading = {
    span,
    fields: emptyFields(),
    groups: {},
    signs: ALWAYS | signsOfScope(span.scope.name),
    isTruncated: false,
    parsed: {},
  }
  readAttributes(span.attributes, reading)
  for (const { dialect, bit } of expandOrder) if ((reading.signs & bit) !== 0) dialect.expand!(reading)
  return reading
}

const resources = new WeakMap<Attributes, Fields>()

/** What a resource says. Spans of one batch share theirs, so it is read once. */
export function readResource(resource: Attributes): Fields {
  let fields = resources.get(resource)
  if (fields === undefined) {
    const reading = { fields: emptyFields(), groups: {}, signs: 0 }
    readAttributes(resource, reading)
    fields = reading.fields
    resources.set(resource, fields)
  }
  return fields
}

function readAttributes(attributes: Attributes, reading: Pick<Reading, 'fields' | 'groups' | 'signs'>): void {
  const { groups } = reading
  const fields = reading.fields as Record<string, unknown>
  let { signs } = reading
  ranks.fill(NO_RANK)
  for (const key of Object.keys(attributes)) {
    const meaning = meaningOf(key)
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
