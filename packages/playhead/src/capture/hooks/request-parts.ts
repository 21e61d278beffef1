import type { HeaderReader } from '../calls/call-span.ts'

/** Reads headers in any form that undici uses: a flat list, a list of pairs, an object, or `Headers`. */
export function readHeaders(headers: unknown): HeaderReader {
  return (name) => {
    if (typeof headers !== 'object' || headers === null) return undefined
    if (Array.isArray(headers)) return findInList(headers, name)
    if (typeof (headers as Headers).get === 'function') return (headers as Headers).get(name) ?? undefined
    if (Symbol.iterator in headers) return findInList([...(headers as Iterable<unknown>)], name)
    for (const key of Object.keys(headers))
      if (key.toLowerCase() === name) return textOf((headers as Record<string, unknown>)[key])
    return undefined
  }
}

function findInList(list: readonly unknown[], name: string): string | undefined {
  if (Array.isArray(list[0])) {
    const pair = list.find((item) => Array.isArray(item) && textOf(item[0])?.toLowerCase() === name)
    return Array.isArray(pair) ? textOf(pair[1]) : undefined
  }
  for (let index = 0; index + 1 < list.length; index += 2)
    if (textOf(list[index])?.toLowerCase() === name) return textOf(list[index + 1])
  return undefined
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
