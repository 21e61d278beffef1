import { isMeaningful, isRecord, isUnsafeKey, toText, type JsonObject } from '../../json/attribute-value.ts'
import type { SpanReading } from '../reading/dialect.ts'
import { unflattenList } from '../reading/flattened-keys.ts'
import { parseJson } from '../../json/json-text.ts'

const MAX_DEPTH = 8

/** The embedded texts, if the sender reports them separately from the vectors. */
export function embeddedTexts({ fields, groups }: SpanReading): unknown {
  const texts = unflattenList(groups.embeddings).flatMap((item) => {
    const inner = isRecord(item) && isRecord(item.embedding) ? item.embedding : item
    const text = isRecord(inner) ? toText(inner.text) : undefined
    return text === undefined ? [] : [text]
  })
  if (texts.length > 0) return texts.length === 1 ? texts[0] : texts
  const given = fields.embeddingInput
  const values = Array.isArray(given) ? given.map(parseJson) : parseJson(given)
  return Array.isArray(values) && values.length === 1 ? values[0] : values
}

/** Removes vectors, which are large and unreadable. Undefined when nothing else is left. */
export function withoutVectors(value: unknown, depth = 0): unknown {
  if (Array.isArray(value)) {
    if (value.length > 1 && typeof value[0] === 'number') return undefined
    const kept = value.map((item) => withoutVectors(item, depth + 1)).filter((item) => item !== undefined)
    return kept.length === 0 ? undefined : kept
  }
  if (!isRecord(value)) return value
  if (depth === MAX_DEPTH) return undefined
  const copy = Object.create(null) as JsonObject
  for (const key of Object.keys(value)) {
    const kept = isUnsafeKey(key) ? undefined : withoutVectors(value[key], depth + 1)
    if (kept !== undefined) copy[key] = kept
  }
  return isMeaningful(copy) ? copy : undefined
}
