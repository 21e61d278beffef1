import { BlockList } from 'node:net'
import { expect, test } from 'vitest'
import {
  AddressGuard,
  forbiddenNetworks,
  plainHost,
  readAllowedTargets,
  UnreachableTarget,
  type AllowedTargets,
  type ForbiddenNetwork,
} from './address-guard.ts'

const nothing: AllowedTargets = { networks: new BlockList(), hosts: new Set() }

/** Every row: a host as somebody may type it, and the protection without which it would be reached. */
const refused: readonly [host: string, protection: ForbiddenNetwork][] = [
  ['0.0.0.0', 'this host'],
  ['[::]', 'this host'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['[::1]', 'loopback'],
  // Forms of 127.0.0.1 that a browser, curl or getaddrinfo understand.
  ['2130706433', 'loopback'],
  ['0x7f000001', 'loopback'],
  ['0x7f.1', 'loopback'],
  ['017700000001', 'loopback'],
  ['0177.0.0.01', 'loopback'],
  ['127.1', 'loopback'],
  ['127.0.0.1.', 'loopback'],
  ['１２７.0.0.1', 'loopback'],
  ['[::ffff:127.0.0.1]', 'loopback'],
  ['[::ffff:7f00:1]', 'loopback'],
  ['[::ffff:0:7f00:1]', 'loopback'],
  ['[::127.0.0.1]', 'loopback'],
  ['[64:ff9b::7f00:1]', 'loopback'],
  ['10.1.2.3', 'private'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.168.1.1', 'private'],
  ['[::ffff:10.1.2.3]', 'private'],
  ['[64:ff9b::192.168.1.1]', 'private'],
  ['100.64.0.1', 'carrier-grade NAT'],
  ['100.100.100.200', 'carrier-grade NAT'],
  ['169.254.169.254', 'link-local'],
  ['2852039166', 'link-local'],
  ['0xa9fea9fe', 'link-local'],
  ['0251.0376.0251.0376', 'link-local'],
  ['[::ffff:169.254.169.254]', 'link-local'],
  ['[64:ff9b::a9fe:a9fe]', 'link-local'],
  ['[fe80::1]', 'link-local'],
  ['[febf::1]', 'link-local'],
  ['168.63.129.16', 'metadata with a public address'],
  ['192.0.0.192', 'protocol assignments'],
  ['192.88.99.1', 'protocol assignments'],
  ['192.0.2.1', 'documentation'],
  ['198.51.100.1', 'documentation'],
  ['203.0.113.1', 'documentation'],
  ['[2001:db8::1]', 'documentation'],
  ['[3fff::1]', 'documentation'],
  ['198.18.0.1', 'benchmarks'],
  ['[2001:2::1]', 'benchmarks'],
  ['224.0.0.1', 'multicast and reserved'],
  ['255.255.255.255', 'multicast and reserved'],
  ['[ff02::1]', 'multicast and reserved'],
  ['[fc00::1]', 'unique-local'],
  ['[fd00:ec2::254]', 'unique-local'],
  ['[fec0::1]', 'site-local'],
  ['[64:ff9b:1::7f00:1]', 'local NAT64'],
  ['[2002:7f00:1::]', '6to4'],
  ['[2001:0:7f00:1::]', 'Teredo'],
  ['[100::1]', 'discard-only'],
]

test.each(refused)('%s is refused, which it would not be without "%s"', async (host, protection) => {
  // As the address of a webhook, and as an SMTP host.
  for (const typed of [new URL(`http://${host}/`).hostname, host.normalize('NFKC')]) {
    await expect(new AddressGuard(nothing).pin(typed)).rejects.toThrow(UnreachableTarget)
    const { address } = await new AddressGuard(nothing, { without: [protection] }).pin(typed)
    expect(address).toBe(plainHost(typed))
  }
})

test.each(refused)('%s is refused as soon as it is saved', (host, protection) => {
  for (const typed of [new URL(`http://${host}/`).hostname, host.normalize('NFKC')]) {
    expect(new AddressGuard(nothing).refusalOf(typed)).toMatch(
      /is not a public address.*PLAYHEAD_ALERT_ALLOW/,
    )
    expect(new AddressGuard(nothing, { without: [protection] }).refusalOf(typed)).toBeUndefined()
  }
})

test('what a name leads to is only doubted, except for localhost', async () => {
  const resolve = async () => [{ address: '10.0.0.1' }]
  const guard = new AddressGuard(nothing, { resolve })
  expect(guard.refusalOf('hooks.internal')).toBeUndefined()
  expect(await guard.doubtAbout('hooks.internal')).toMatch(
    /^hooks\.internal \(10\.0\.0\.1\) is not a public address/,
  )
  for (const host of ['localhost', 'LOCALHOST.', 'a.localhost'])
    expect(guard.refusalOf(host)).toMatch(/is not a public address/)
  const allowing = (text: string) => new AddressGuard(readAllowedTargets(text) as AllowedTargets, { resolve })
  expect(allowing('127.0.0.1').refusalOf('localhost')).toBeUndefined()
  expect(allowing('localhost').refusalOf('localhost')).toBeUndefined()
  expect(await allowing('hooks.internal').doubtAbout('hooks.internal')).toBeUndefined()
  expect(new AddressGuard(nothing).refusalOf('a b')).toBe('"a b" is not the name or address of a host.')
})

test('a name server that does not answer keeps nobody waiting', async () => {
  const guard = new AddressGuard(nothing, { resolve: () => new Promise(() => {}) })
  expect(await guard.doubtAbout('hooks.example.com', 5)).toBeUndefined()
})

test('a name is judged by what it resolves to, and every protection has a row', async () => {
  for (const [host] of refused) {
    const guard = new AddressGuard(nothing, {
      resolve: async () => [{ address: plainHost(host.normalize('NFKC')) }],
    })
    await expect(guard.pin('hooks.example.com')).rejects.toThrow(
      /is not a public address.*PLAYHEAD_ALERT_ALLOW/,
    )
  }
  expect(new Set(refused.map(([, protection]) => protection))).toEqual(
    new Set(Object.keys(forbiddenNetworks)),
  )
})

test('public addresses are allowed, also those that are translated', async () => {
  const guard = new AddressGuard(nothing)
  for (const host of ['93.184.215.14', '2606:4700::1111', '64:ff9b::5db8:d70e', '172.32.0.1', '100.128.0.1'])
    expect((await guard.pin(host)).address).toBe(plainHost(host))
})

test('of several addresses, only one that is allowed is used', async () => {
  const resolve = async () => [{ address: '10.0.0.1' }, { address: '93.184.215.14' }]
  expect(await new AddressGuard(nothing, { resolve }).pin('mixed.example')).toEqual({
    address: '93.184.215.14',
    family: 4,
  })
})

test('the allow-list takes addresses, networks and names, and says what it does not understand', async () => {
  const allowed = readAllowedTargets('127.0.0.1, 10.1.0.0/16  ::1\nmail.internal') as AllowedTargets
  const resolve = async (host: string) => [
    { address: host === 'mail.internal' ? '192.168.7.7' : '192.168.7.8' },
  ]
  const guard = new AddressGuard(allowed, { resolve })
  const results = await Promise.all(
    [
      '127.0.0.1',
      '127.0.0.2',
      '10.1.9.9',
      '10.2.0.1',
      '::1',
      'mail.internal',
      'MAIL.internal',
      'other.internal',
    ].map((host) =>
      guard.pin(host).then(
        ({ address }) => address,
        () => 'refused',
      ),
    ),
  )
  expect(results).toEqual([
    '127.0.0.1',
    'refused',
    '10.1.9.9',
    'refused',
    '::1',
    '192.168.7.7',
    '192.168.7.7',
    'refused',
  ])
  for (const text of ['10.0.0.0/99', 'http://x', '300.1.1.1', 'a_b'])
    expect(readAllowedTargets(text)).toEqual({ problem: text })
})

test('what is no host is refused', async () => {
  for (const host of ['', 'a b', 'a/b', 'user@host', 'host:80:90', 'a?b', 'a#b', '\u0000'])
    await expect(new AddressGuard(nothing).pin(host)).rejects.toThrow(UnreachableTarget)
})
