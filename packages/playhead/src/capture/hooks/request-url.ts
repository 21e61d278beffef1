/** The address of a request from its origin and path. Proxies get the whole address as a path. */
export function requestUrl(origin: unknown, path: unknown): URL | undefined {
  if (typeof path !== 'string') return undefined
  try {
    if (path.startsWith('http')) return new URL(path)
    return typeof origin === 'string' || origin instanceof URL ? new URL(path, origin) : undefined
  } catch {
    return undefined
  }
}
