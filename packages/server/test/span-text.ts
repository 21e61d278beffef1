import type { Span } from '@playhead/model'

/** Everything a span says, as text: equal for equal spans, whatever the order of their keys. */
export function spanText(span: Span | undefined): string {
  return JSON.stringify(inOrder(span), (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
}

/** A map as a list of its entries: keys like `__proto__` are keys, and prototypes are nothing that was sent. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, entry]) => [key, inOrder(entry)])
}
