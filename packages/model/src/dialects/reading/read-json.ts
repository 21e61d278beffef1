import type { SpanReading } from './dialect.ts'
import { isCutJson, parseJsonText } from '../../json/json-text.ts'

/** Parses an attribute that may be JSON, and notes when an attribute limit cut it. */
export function readJson(reading: SpanReading, value: unknown): unknown {
  if (typeof value !== 'string') return value
  const parsed = parseJsonText(value)
  if (parsed === value && isCutJson(value)) reading.isTruncated = true
  return parsed
}
