import { emptyAttributes, type Attributes, type AttributeValue } from '../otlp/span.ts'

const MAX_DEPTH = 64

/** Copies a value into what an attribute can hold, with objects without a prototype. */
export function toAttribute(value: unknown, depth = 0): AttributeValue {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'object' || value === null) return null
  if (depth === MAX_DEPTH) return '…'
  if (Array.isArray(value)) return value.map((item) => toAttribute(item, depth + 1))
  const copy = emptyAttributes()
  for (const [key, item] of Object.entries(value)) copy[key] = toAttribute(item, depth + 1)
  return copy
}

/** Sets an attribute, unless the value is missing. */
export function setAttribute(attributes: Attributes, key: string, value: unknown): void {
  if (value !== undefined && value !== null) attributes[key] = toAttribute(value)
}

const isoTime = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:?\d\d)?$/

/** Parses an ISO time to nanoseconds, as UTC without a zone. Python writes microseconds, which a Date would lose. */
export function parseIsoTimeNs(value: unknown): bigint | null {
  const match = typeof value === 'string' ? isoTime.exec(value) : null
  if (match === null) return null
  const milliseconds = Date.parse(`${match[1]}T${match[2]}${match[4] ?? 'Z'}`)
  if (!Number.isFinite(milliseconds)) return null
  return BigInt(milliseconds) * 1_000_000n + BigInt((match[3] ?? '').padEnd(9, '0').slice(0, 9))
}
