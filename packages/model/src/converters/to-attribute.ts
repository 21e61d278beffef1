import { emptyAttributes, type Attributes, type AttributeValue } from '../otlp/span.ts'

const MAX_DEPTH = 64

/** A copy that holds nothing but what an attribute can, in objects without a prototype. */
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

/** Sets an attribute, unless there is nothing to set. */
export function setAttribute(attributes: Attributes, key: string, value: unknown): void {
  if (value !== undefined && value !== null) attributes[key] = toAttribute(value)
}
