import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { readProxies } from '../access/client-address.ts'

/**
 * Networks that a destination may not be in: whatever the server can reach there is usually not meant for whoever saves a
 * destination. The names are those of the tests, each of which fails without its line.
 */
export const forbiddenNetworks = {
  'this host': ['0.0.0.0/8', '::/128'],
  loopback: ['127.0.0.0/8', '::1/128'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  'carrier-grade NAT': ['100.64.0.0/10'],
  'link-local': ['169.254.0.0/16', 'fe80::/10'],
  'metadata with a public address': ['168.63.129.16/32'],
  'protocol assignments': ['192.0.0.0/24', '192.88.99.0/24'],
  documentation: ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'],
  benchmarks: ['198.18.0.0/15', '2001:2::/48'],
  'multicast and reserved': ['224.0.0.0/4', '240.0.0.0/4', 'ff00::/8'],
  'unique-local': ['fc00::/7'],
  'site-local': ['fec0::/10'],
  'local NAT64': ['64:ff9b:1::/48'],
  '6to4': ['2002::/16'],
  Teredo: ['2001::/32'],
  'discard-only': ['100::/64'],
} as const satisfies Record<string, readonly string[]>

export type ForbiddenNetwork = keyof typeof forbiddenNetworks

/** What `PLAYHEAD_ALERT_ALLOW` lists: addresses and networks, and names of hosts. */
export type AllowedTargets = { networks: BlockList; hosts: ReadonlySet<string> }

/** Reads `10.0.0.7, 10.1.0.0/16, alertmanager.internal`. Returns the first entry that is neither as `problem`. */
export function readAllowedTargets(text: string): AllowedTargets | { problem: string } {
  const entries = text.split(/[\s,]+/).filter(Boolean)
  const isAddress = (entry: string) => isIP(entry.split('/')[0]!) !== 0
  const networks = readProxies(entries.filter(isAddress).join(','))
  if (!(networks instanceof BlockList)) return networks
  const hosts = entries.filter((entry) => !isAddress(entry)).map((entry) => entry.toLowerCase())
  const wrong = hosts.find((host) => !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(host) || /^[\d.]+$/.test(host))
  return wrong === undefined ? { networks, hosts: new Set(hosts) } : { problem: wrong }
}

/** Nobody who saves a destination waits longer for a name server. */
const DOUBTED_WITHIN_MS = 2_000

/** A target that was refused, or has no address. Nothing was sent. */
export class UnreachableTarget extends Error {}

export type PinnedAddress = { address: string; family: 4 | 6 }
export type Resolve = (host: string) => Promise<readonly { address: string }[]>

/** Decides where the server may connect to. */
export class AddressGuard {
  readonly #allowed: AllowedTargets
  readonly #resolve: Resolve
  readonly #forbidden: BlockList
  #lookingUp: Promise<unknown> = Promise.resolve()

  /** `without` leaves out networks, for tests. */
  constructor(
    allowed: AllowedTargets,
    options: { resolve?: Resolve; without?: readonly ForbiddenNetwork[] } = {},
  ) {
    this.#allowed = allowed
    this.#resolve = options.resolve ?? ((host) => lookup(host, { all: true, verbatim: true }))
    this.#forbidden = blockListOf(options.without ?? [])
  }

  /**
   * Resolves a host once. Whoever connects uses this address and never the name again, so that a name server that changes its
   * mind changes nothing.
   */
  async pin(host: string): Promise<PinnedAddress> {
    const name = plainHost(host)
    if (isIP(name) !== 0) return this.#check(name, [name])
    const found = await this.#lookUp(name).catch((error: NodeJS.ErrnoException) => {
      throw new UnreachableTarget(`The name ${name} has no address (${error.code ?? error.message}).`)
    })
    return this.#check(
      name,
      found.map(({ address }) => address),
    )
  }

  /**
   * Why nothing will ever be sent to a host; undefined for one that is allowed, and for names, whose addresses may change. Asks no
   * name server.
   */
  refusalOf(host: string): string | undefined {
    try {
      const name = plainHost(host)
      if (isIP(name) !== 0) this.#check(name, [name])
      else if (isLocalhost(name)) this.#check(name, ['127.0.0.1', '::1'])
      return undefined
    } catch (error) {
      return reasonOf(error)
    }
  }

  /** Why nothing would be sent to a host now; undefined if that is not known in time. */
  async doubtAbout(host: string, withinMs = DOUBTED_WITHIN_MS): Promise<string | undefined> {
    const late = sleep(withinMs, undefined, { ref: false })
    return Promise.race([this.pin(host).then(() => undefined, reasonOf), late])
  }

  #check(name: string, addresses: readonly string[]): PinnedAddress {
    const isNamed = this.#allowed.hosts.has(name)
    const address = addresses.find((one) => isNamed || this.#isAllowed(one))
    if (address !== undefined) return { address, family: isIP(address) === 6 ? 6 : 4 }
    const where = addresses[0] === name ? name : `${name} (${addresses.join(', ') || 'no address'})`
    throw new UnreachableTarget(
      `${where} is not a public address. If the server may connect to it, add it to PLAYHEAD_ALERT_ALLOW and restart the server.`,
    )
  }

  #isAllowed(address: string): boolean {
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (this.#allowed.networks.check(address, family)) return true
    const embedded = embeddedIpv4(address)
    if (embedded !== undefined) return this.#isAllowed(embedded)
    return isIP(address) !== 0 && !this.#forbidden.check(address, family)
  }

  /** One at a time: a slow name server holds a thread that the log needs to write. */
  #lookUp(name: string): Promise<readonly { address: string }[]> {
    const found = this.#lookingUp.then(() => this.#resolve(name))
    this.#lookingUp = found.catch(() => {})
    return found
  }
}

/** Names that mean this host, whatever a name server says (RFC 6761). */
function isLocalhost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost')
}

function reasonOf(error: unknown): string {
  if (error instanceof UnreachableTarget) return error.message
  throw error
}

/** As a browser reads a host: `2130706433`, `0x7f.1` and `0177.0.0.1` are 127.0.0.1; `[::1]` loses its brackets. */
export function plainHost(host: string): string {
  const text = isIP(host) === 6 ? `[${host}]` : host
  const isHost = /^[\w.:[\]-]+$/.test(text) && URL.canParse(`http://${text}/`)
  const { hostname } = isHost ? new URL(`http://${text}/`) : { hostname: '' }
  if (hostname === '') throw new UnreachableTarget(`"${host}" is not the name or address of a host.`)
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

/** The IPv4 address in an IPv6 address that routers or the kernel translate: mapped, compatible and NAT64. */
function embeddedIpv4(address: string): string | undefined {
  if (isIP(address) !== 6) return undefined
  const groups = groupsOf(address)
  const head = groups.slice(0, 6).map((group) => group.toString(16))
  const [high = 0, low = 0] = groups.slice(6)
  const isMapped = head.join(':') === '0:0:0:0:0:ffff'
  const isTranslated = head.join(':') === '0:0:0:0:ffff:0'
  const isNat64 = head.join(':') === '64:ff9b:0:0:0:0'
  // ::1 and :: are no IPv4 addresses.
  const isCompatible = head.join(':') === '0:0:0:0:0:0' && (high > 0 || low > 1)
  if (!isMapped && !isTranslated && !isNat64 && !isCompatible) return undefined
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** The eight numbers of an IPv6 address. */
function groupsOf(address: string): number[] {
  const [plain = ''] = address.split('%')
  const { hostname } = new URL(`http://[${plain}]/`)
  const [head = '', tail] = hostname.slice(1, -1).split('::')
  const [left, right] = [head, tail ?? ''].map((part) => part.split(':').filter(Boolean))
  const zeros = tail === undefined ? 0 : 8 - left!.length - right!.length
  return [...left!, ...Array.from({ length: zeros }, () => '0'), ...right!].map((group) =>
    Number.parseInt(group, 16),
  )
}

function blockListOf(without: readonly ForbiddenNetwork[]): BlockList {
  const list = new BlockList()
  for (const [name, networks] of Object.entries(forbiddenNetworks)) {
    if (without.includes(name as ForbiddenNetwork)) continue
    for (const network of networks) {
      const [address = '', bits] = network.split('/')
      list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4')
    }
  }
  return list
}
