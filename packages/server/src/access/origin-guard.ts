import type { IncomingMessage } from 'node:http'
import { isLoopback, type Config } from '../process/config.ts'
import { KnownError } from '../errors/known-error.ts'

/**
 * Without auth, whoever reaches the port may read everything; so a web page must not be able to make the browser do it.
 * The `Host` header stops names that were pointed at 127.0.0.1 (DNS rebinding), the `Origin` header stops other sites.
 */
export function guardOrigin(
  request: IncomingMessage,
  config: Pick<Config, 'isAuthOn' | 'host' | 'publicUrl'>,
): void {
  const host = hostName(request.headers.host)
  if (!config.isAuthOn && !isOurHost(host, config)) {
    throw new KnownError(
      'FORBIDDEN',
      `The Host header is "${(request.headers.host ?? '').slice(0, 100)}": without auth this server answers on loopback names only. Use http://localhost, or set PLAYHEAD_URL to the address people use.`,
    )
  }
  const { origin } = request.headers
  if (origin === undefined) return
  if (isSameOrigin(origin, request.headers.host) || isOurOrigin(request, origin, config)) return
  throw new KnownError('FORBIDDEN', `Pages of ${origin.slice(0, 100)} may not use this server.`)
}

/** An agent in a page of the developer's own machine may send what it did; nothing more. */
function isOurOrigin(
  request: IncomingMessage,
  origin: string,
  config: Pick<Config, 'isAuthOn' | 'publicUrl'>,
): boolean {
  if (config.publicUrl !== undefined && origin === new URL(config.publicUrl).origin) return true
  return isIngestPath(request.url ?? '') && (config.isAuthOn || isLoopback(hostName(stripScheme(origin))))
}

/** OTLP's paths, below whatever prefix an SDK puts before them. */
export function isIngestPath(url: string): boolean {
  return /\/v1\/(traces|logs|metrics)(\/ingest)?\/?(\?.*)?$/.test(url)
}

function isOurHost(host: string, config: Pick<Config, 'host' | 'publicUrl'>): boolean {
  if (isLoopback(host) || host === hostName(config.host)) return true
  return config.publicUrl !== undefined && host === new URL(config.publicUrl).hostname
}

function isSameOrigin(origin: string, host: string | undefined): boolean {
  return host !== undefined && stripScheme(origin) === host
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
