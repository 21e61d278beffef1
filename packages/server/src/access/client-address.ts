import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

/** Reads `10.0.0.1, 10.1.0.0/16, ::1`. Returns the first entry that is not an address as `problem`. */
export function readProxies(text: string): BlockList | { problem: string } {
  const proxies = new BlockList()
  for (const entry of text.split(/[\s,]+/).filter(Boolean)) {
    const [address = '', bits] = entry.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    const prefix = bits === undefined ? undefined : Number(bits)
    const isPrefix =
      prefix === undefined ||
      (Number.isInteger(prefix) && prefix >= 0 && prefix <= (family === 'ipv6' ? 128 : 32))
    if (isIP(address) === 0 || !isPrefix) return { problem: entry }
    if (prefix === undefined) proxies.addAddress(address, family)
    else proxies.addSubnet(address, prefix, family)
  }
  return proxies
}

/**
 * Notes which address a request comes from: the peer's or, if the peer is a trusted proxy, the last one in
 * `X-Forwarded-For` that is not.
 */
export function noteAddress(request: IncomingMessage, trustedProxies: BlockList): string {
  const forwarded = [request.headers['x-forwarded-for']].flat().join(',').split(',')
  const hops = [...forwarded, request.socket?.remoteAddress ?? ''].map((hop) => plainAddress(hop.trim()))
  let address = hops.pop()!
  while (isTrusted(address, trustedProxies) && isIP(hops.at(-1) ?? '') !== 0) address = hops.pop()!
  clientAddresses.set(request, address)
  return address
}

/** The address that was noted. */
export function addressOf(request: IncomingMessage): string {
  return clientAddresses.get(request) ?? ''
}

const clientAddresses = new WeakMap<IncomingMessage, string>()

function isTrusted(address: string, proxies: BlockList): boolean {
  const version = isIP(address)
  return version !== 0 && proxies.check(address, version === 6 ? 'ipv6' : 'ipv4')
}

/** IPv4 as a socket for both versions writes it: `::ffff:10.0.0.1`. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '')
}

/** A network of IPv6 addresses (/64) belongs to one customer, so it counts as one address. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address
  const [head = '', tail] = address.split('::')
  const [left, right] = [head, tail ?? ''].map((part) => part.split(':').filter(Boolean))
  const missing = tail === undefined ? 0 : 8 - left!.length - right!.length
  const groups = [...left!, ...Array.from({ length: Math.max(missing, 0) }, () => '0'), ...right!]
  return `${groups.slice(0, 4).join(':')}::/64`
}
