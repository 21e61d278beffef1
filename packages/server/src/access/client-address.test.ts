import { BlockList, type Socket } from 'node:net'
import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { addressOf, networkOf, noteAddress, readProxies } from './client-address.ts'

const proxies = readProxies('10.0.0.1, 192.168.0.0/16 fd00::/8') as BlockList

function requestFrom(remoteAddress: string, forwardedFor?: string): IncomingMessage {
  const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
  return { headers, socket: { remoteAddress } as Socket } as unknown as IncomingMessage
}

test.each([
  ['a client without a proxy', '203.0.113.9', undefined, '203.0.113.9'],
  ['a client that claims to be another', '203.0.113.9', '1.2.3.4', '203.0.113.9'],
  ['a client behind a trusted proxy', '10.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['a client behind two of them', '::ffff:10.0.0.1', '203.0.113.9, 192.168.3.4', '203.0.113.9'],
  ['a client behind a proxy that claims to be another', '10.0.0.1', '1.2.3.4, 203.0.113.9', '203.0.113.9'],
  ['a proxy that names nobody', '10.0.0.1', undefined, '10.0.0.1'],
  ['a proxy that sends garbage', '10.0.0.1', 'unknown', '10.0.0.1'],
  ['IPv6', 'fd00::1', '2001:db8::7', '2001:db8::7'],
])('%s', (_, remote, forwardedFor, address) => {
  const request = requestFrom(remote, forwardedFor)
  expect(noteAddress(request, proxies)).toBe(address)
  expect(addressOf(request)).toBe(address)
})

test('addresses of one IPv6 network count as one', () => {
  expect(
    ['2001:db8:1:2::7', '2001:db8:1:2:3:4:5:6', '2001:db8::7', '::1', '10.0.0.1'].map(networkOf),
  ).toEqual(['2001:db8:1:2::/64', '2001:db8:1:2::/64', '2001:db8:0:0::/64', '0:0:0:0::/64', '10.0.0.1'])
})

test('what is not an address is named', () => {
  for (const text of ['proxy.local', '10.0.0.1, 10.0.0.0/33', '10.0.0.1/x', '::1/129'])
    expect(readProxies(text)).toEqual({ problem: text.split(', ').at(-1) })
})
