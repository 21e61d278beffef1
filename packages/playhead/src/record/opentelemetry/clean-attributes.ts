import type { Attributes } from '@opentelemetry/api'

/** Deeper values are left out; nothing that is inside itself goes on for ever. */
const MAX_DEPTH = 16

/** A copy without what OpenTelemetry does not allow. */
export function cleanAttributes(attributes: Attributes | undefined): Attributes {
  const clean: Attributes = {}
  if (typeof attributes !== 'object' || attributes === null) return clean
  for (const key of Object.keys(attributes)) {
    const value = cleanValue(attributes[key])
    if (value !== undefined) clean[key] = value
  }
  return clean
}

/** The value as it is now, the host may change its objects later; undefined when it is not allowed. */
export function cleanValue(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
      return value
    case 'object':
      return copyOf(value)
    default:
      return undefined
  }
}

function copyOf(value: object | null): unknown {
  try {
    return copy(value, 0)
  } catch {
    return undefined
  }
}

function copy(value: unknown, depth: number): unknown {
  if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'function') return undefined
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  if (depth >= MAX_DEPTH) return undefined
  if (Array.isArray(value)) return value.map((item) => copy(item, depth + 1))
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return undefined
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, item]) => [key, copy(item, depth + 1)] as const)
      .filter(([, item]) => item !== undefined),
  )
}
