import type { IncomingHttpHeaders } from 'node:http'
import { KnownError } from '../errors/known-error.ts'
import { isLoopback, type Site } from './addresses.ts'

/**
 * Without auth, whoever reaches the port can read everything, so web pages must not reach it through the browser. The
 * `Host` check stops DNS rebinding (names that point to 127.0.0.1), the `Origin` check stops other sites.
 */
export function guardOrigin(
  { headers }: { headers: IncomingHttpHeaders },
  pathname: string,
  site: Site,
  isAuthOn: boolean,
): void {
  const { host, origin } = headers
  if (!isAuthOn && !isOurHost(hostName(host), site)) {
    throw new KnownError(
      'FORBIDDEN',
      `The Host header is "${(host ?? '').slice(0, 100)}", but without auth this server accepts only loopback names. Use http://localhost, or set PLAYHEAD_URL to the address that people use.`,
    )
  }
  if (origin === undefined || isOwnOrigin({ host, origin }, site)) return
  // An agent in a page on the developer's own machine may send spans, and nothing else.
  if (isIngestPath(pathname) && (isAuthOn || isLoopback(hostName(stripScheme(origin))))) return
  throw new KnownError('FORBIDDEN', `Pages of ${origin.slice(0, 100)} may not use this server.`)
}

/** Whether one of our own pages sent a request, or a program, which sends neither of these headers. */
export function isOwnOrigin(
  { host, origin, 'sec-fetch-site': fetchSite }: IncomingHttpHeaders,
  site: Site,
): boolean {
  if (origin === undefined)
    return fetchSite === undefined || fetchSite === 'same-origin' || fetchSite === 'none'
  return (
    stripScheme(origin) === host ||
    (site.publicUrl !== undefined && origin === new URL(site.publicUrl).origin)
  )
}

/** Matches OTLP's paths under any prefix that an SDK puts before them. */
export function isIngestPath(pathname: string): boolean {
  return /\/v1\/(traces|logs|metrics)(\/ingest)?\/?$/.test(pathname)
}

function isOurHost(host: string, site: Site): boolean {
  if (isLoopback(host) || host === hostName(site.host)) return true
  return site.publicUrl !== undefined && host === new URL(site.publicUrl).hostname
}

function stripScheme(origin: string): string {
  return origin.replace(/^https?:\/\//, '')
}

/** `localhost:4318` → `localhost`, `[::1]:4318` → `::1`. */
function hostName(host: string | undefined): string {
  return (host ?? '')
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '')
    .toLowerCase()
}
