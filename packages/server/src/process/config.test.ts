import { expect, test } from 'vitest'
import { isLoopback } from '../access/addresses.ts'
import { readConfig } from './config.ts'

test('by default the server is open on loopback, on the port of OTLP', () => {
  expect(readConfig({ HOME: '/home/x' })).toMatchObject({
    host: '127.0.0.1',
    port: 4318,
    grpcPort: 4317,
    isAuthOn: false,
    isDemoOn: true,
    clickhouseUrl: undefined,
    maxBodyBytes: 64 * 1024 * 1024,
  })
})

test('on any other address it requires a password, and says how to set it', () => {
  expect(readConfig({ PLAYHEAD_HOST: '0.0.0.0' })).toEqual({
    problem: expect.stringContaining('set PLAYHEAD_PASSWORD') as string,
  })
  expect(readConfig({ PLAYHEAD_HOST: '0.0.0.0', PLAYHEAD_AUTH: 'off' })).toEqual({
    problem: expect.stringContaining('PLAYHEAD_AUTH=off is allowed on loopback only') as string,
  })
  expect(readConfig({ PLAYHEAD_HOST: '0.0.0.0', PLAYHEAD_PASSWORD: 'correct horse' })).toMatchObject({
    isAuthOn: true,
  })
})

test('gRPC is on by default only with the default HTTP port', () => {
  const portOf = (environment: Record<string, string>) => {
    const config = readConfig(environment)
    return 'problem' in config ? config.problem : config.grpcPort
  }

  expect(portOf({ PLAYHEAD_PORT: '4318' })).toBe(4317)
  expect(portOf({ PLAYHEAD_PORT: '4400' })).toBeUndefined()
  expect(portOf({ PLAYHEAD_PORT: '4400', PLAYHEAD_GRPC_PORT: '4401' })).toBe(4401)
  expect(portOf({ PLAYHEAD_GRPC_PORT: 'off' })).toBeUndefined()
  expect(portOf({ PLAYHEAD_GRPC_PORT: 'grpc' })).toBe(
    'PLAYHEAD_GRPC_PORT is "grpc"; it must be a port number, for example 4317, or "off".',
  )
})

test('a mistake in the environment is reported with the allowed values', () => {
  expect(readConfig({ PLAYHEAD_PORT: 'http' })).toEqual({
    problem: expect.stringContaining('PLAYHEAD_PORT is "http"') as string,
  })
  expect(readConfig({ PLAYHEAD_AUTH: 'yes' })).toEqual({
    problem: expect.stringContaining('can be "on" or "off"') as string,
  })
  expect(readConfig({ PLAYHEAD_MAX_BODY_MB: '9999' })).toEqual({
    problem: expect.stringContaining('from 1 to 512') as string,
  })
})

test('loopback names are those that only this machine can reach', () => {
  expect(
    ['localhost', '127.0.0.1', '127.8.9.10', '::1', '[::1]', 'app.localhost'].map(isLoopback),
  ).not.toContain(false)
  expect(
    ['0.0.0.0', '::', '10.0.0.1', 'example.com', '127.0.0.1.evil.com', 'localhost.evil.com'].map(isLoopback),
  ).not.toContain(true)
})
