import type { Span } from '@playhead/model'

/** A span as text that is equal for equal spans, whatever the order of their keys. */
export function spanText(span: Span | undefined): string {
  return JSON.stringify(inOrder(span), (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
}

/** Turns objects into lists of entries, so that `__proto__` is a key like any other. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, entry]) => [key, inOrder(entry)])
}
