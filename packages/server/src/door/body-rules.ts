import type { HeaderReader } from '../access/caller.ts'

/** What is known about a request before its body is read. */
export type Head = {
  header: HeaderReader
  query: (name: string) => string | undefined
  address: string
  /** The parts of the path that the rule's pattern names in braces. */
  params: Readonly<Record<string, string>>
}

/** Who may send a route's body, how large it may be, and how long it may take to arrive. */
export type BodyRule = {
  /** Throws unless the caller may send it, and returns the project that it is for, if it is for one. */
  from: 'anyone' | ((head: Head) => string | undefined)
  maxBytes: number
  /** After decompression; undefined: the same. */
  maxInflatedBytes?: number
  /** Undefined: as long as it takes. */
  arrivalMs: number | undefined
  /** The handler reads it from the connection itself, within `maxBytes`. */
  isStream?: true
}

/** A rule for each route that takes a body, by method and path: `PATCH /api/projects/{project}`. */
export type BodyRules = Readonly<Record<string, BodyRule>>

export type FoundRule = { rule: BodyRule; params: Readonly<Record<string, string>> }

/** Returns a function that finds the rule for a request. A route without a rule gets no body. */
export function createRuleFinder(
  rules: BodyRules,
): (method: string, pathname: string) => FoundRule | undefined {
  const patterns = Object.entries(rules).map(([route, rule]) => {
    const [method, path = ''] = route.split(' ')
    return { method, pattern: new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`), rule }
  })
  return (method, pathname) => {
    for (const { method: expected, pattern, rule } of patterns) {
      const match = method === expected ? pattern.exec(pathname) : null
      if (match !== null) return { rule, params: decoded(match.groups ?? {}) }
    }
    return undefined
  }
}

function decoded(params: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decode(value)]))
}

/** What cannot be decoded names nothing that exists; the route says what is wrong with it. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
