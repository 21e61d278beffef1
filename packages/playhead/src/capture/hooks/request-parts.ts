import type { HeaderReader } from '../calls/call-span.ts'

export function readHeaders(headers: unknown): HeaderReader {
  return (name) => headerPairs(headers).find(([key]) => key.toLowerCase() === name)?.[1]
}

export function toHeaders(headers: unknown): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [key, value] of headerPairs(headers)) {
    const name = key.toLowerCase()
    found[name] = Object.hasOwn(found, name) ? `${found[name]}, ${value}` : value
  }
  return found
}

/** Reads headers in any form that undici uses: a flat list, a list of pairs, an object, or `Headers`. */
export function headerPairs(headers: unknown): [name: string, value: string][] {
  if (typeof headers !== 'object' || headers === null) return []
  const list: unknown[] =
    Symbol.iterator in headers ? [...(headers as Iterable<unknown>)] : Object.entries(headers)
  const isFlat = list.length > 0 && !Array.isArray(list[0])
  const pairs = isFlat
    ? list.flatMap((name, index) => (index % 2 === 0 ? [[name, list[index + 1]]] : []))
    : list
  return pairs.flatMap((pair) => {
    const [name, value] = (pair as unknown[]).map(textOf)
    return name === undefined || value === undefined ? [] : [[name, value] as [string, string]]
  })
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (value instanceof Uint8Array) return new TextDecoder('latin1').decode(value)
  if (typeof value === 'number') return String(value)
  return Array.isArray(value) ? textOf(value[0]) : undefined
}

/** Builds the URL of a request. Requests to proxies have the whole URL as their path. */
export function requestUrl(origin: unknown, path: unknown): URL | undefined {
  if (typeof path !== 'string') return undefined
  try {
    if (path.startsWith('http')) return new URL(path)
    return typeof origin === 'string' || origin instanceof URL ? new URL(path, origin) : undefined
  } catch {
    return undefined
  }
}
