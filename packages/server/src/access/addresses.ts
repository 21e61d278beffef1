import type { BlockList } from 'node:net'
import { DEFAULT_PROJECT } from './registry.ts'

/**
 * Where the server listens, whether it speaks TLS itself, the address that people use if it is another one, and the
 * proxies in front of it.
 */
export type Site = {
  host: string
  port: number
  isTlsOn: boolean
  publicUrl: string | undefined
  trustedProxies: BlockList
}

/** The origin of links in responses: the public one, or the one that the request came to. */
export function originOf(requestUrl: string, site: Site): string {
  return site.publicUrl ?? new URL(requestUrl).origin
}

/** The origin of links in messages that no request asked for. */
export function serverOrigin({ host, port, isTlsOn, publicUrl }: Site): string {
  const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return publicUrl ?? `http${isTlsOn ? 's' : ''}://${shown.includes(':') ? `[${shown}]` : shown}:${port}`
}

/** The address of a session's replay. */
export function sessionUrl(origin: string, { id, project }: { id: string; project: string }): string {
  return `${origin}${sessionPath(id, project)}`
}

export function sessionPath(id: string, project: string): string {
  return `/sessions/${id}${project === DEFAULT_PROJECT ? '' : `?project=${project}`}`
}

/** Whether only this machine can reach the host. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase()
  return (
    name === 'localhost' || name === '::1' || name.endsWith('.localhost') || /^127(\.\d{1,3}){3}$/.test(name)
  )
}
