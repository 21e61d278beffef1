import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { credentials, Metadata } from '@grpc/grpc-js'
import { OTLPTraceExporter as GrpcExporter } from '@opentelemetry/exporter-trace-otlp-grpc'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { SimpleSpanProcessor, TracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { KnownError } from '../src/errors/known-error.ts'
import { readConfig } from '../src/process/config.ts'
import { openTls } from '../src/process/tls-identity.ts'
import { PASSWORD } from './locked-server.ts'
import { startTestServer, type TestServer } from './test-server.ts'

let folder: string
let server: TestServer
const at = (name: string) => join(folder, name)

/** A private CA, as a company or mkcert has one. */
function makeAuthority(name: string): void {
  openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30',
    '-subj', `/CN=${name}`, '-keyout', at(`${name}.key`), '-out', at(`${name}.pem`)) // prettier-ignore
}

/** A certificate of that CA for this machine. */
function issue(name: string, authority: string, days = 30): void {
  openssl('req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', `/CN=${name}`,
    '-keyout', at(`${name}.key`), '-out', at(`${name}.csr`)) // prettier-ignore
  writeFileSync(at('extensions'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n')
  openssl('x509', '-req', '-in', at(`${name}.csr`), '-CA', at(`${authority}.pem`), '-CAkey', at(`${authority}.key`),
    '-CAcreateserial', '-days', String(days), '-extfile', at('extensions'), '-out', at(`${name}.pem`)) // prettier-ignore
}

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' })
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'playhead-tls-'))
  for (const name of ['ca', 'other-ca']) makeAuthority(name)
  issue('first', 'ca')
  issue('second', 'other-ca')
  copyFileSync(at('first.pem'), at('cert.pem'))
  copyFileSync(at('first.key'), at('key.pem'))
  server = await startTestServer({
    PLAYHEAD_TLS_CERT: at('cert.pem'),
    PLAYHEAD_TLS_KEY: at('key.pem'),
    PLAYHEAD_GRPC_PORT: '0',
    PLAYHEAD_AUTH: 'on',
    PLAYHEAD_PASSWORD: PASSWORD,
  })
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

type Reply = {
  status: number
  body: string
  headers: Record<string, unknown>
  certificate: string
  isReused: boolean
}

/** A request that trusts one CA; says which certificate the connection was made with. */
async function ask(
  path: string,
  { agent, body, headers = {} }: { agent: Agent; body?: unknown; headers?: object },
): Promise<Reply> {
  const outgoing = request(`${server.url}${path}`, {
    agent,
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
  })
  outgoing.end(body === undefined ? undefined : JSON.stringify(body))
  const [response] = (await once(outgoing, 'response')) as [import('node:http').IncomingMessage]
  const certificate = (response.socket as TLSSocket).getPeerCertificate().subject.CN as string
  return {
    status: response.statusCode!,
    body: await text(response),
    headers: response.headers,
    certificate,
    isReused: outgoing.reusedSocket,
  }
}

const trusting = (authority: string, keepAlive = false) => {
  const agent = new Agent({ ca: readFileSync(at(`${authority}.pem`)), keepAlive, maxCachedSessions: 0 })
  onTestFinished(() => agent.destroy())
  return agent
}

async function ingestKey(agent: Agent): Promise<{ secret: string; cookie: string }> {
  const login = await ask('/api/login', { agent, body: { password: PASSWORD } })
  const [setCookie] = login.headers['set-cookie'] as string[]
  const cookie = setCookie!.split(';')[0]!
  const created = await ask('/api/keys', {
    agent,
    body: { name: 'sender', scopes: ['ingest', 'read'] },
    headers: { cookie },
  })
  return { secret: (JSON.parse(created.body) as { secret: string }).secret, cookie }
}

/** Sends one span with a real exporter, and returns what it reported. */
async function exportSpan(exporter: SpanExporter, name: string): Promise<unknown> {
  const results: unknown[] = []
  const reporting: SpanExporter = {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        results.push(result.error?.message ?? result.code)
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
  }
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: reporting })] })
  provider
    .getTracer('test')
    .startSpan(name, { attributes: { 'gen_ai.operation.name': 'chat' } })
    .end()
  await provider.forceFlush().catch(() => {})
  await expect.poll(() => results.length).toBe(1)
  return results[0]
}

const sessionNames = async (agent: Agent, secret: string) => {
  const { body } = await ask('/api/sessions', { agent, headers: { authorization: `Bearer ${secret}` } })
  return (JSON.parse(body) as { sessions: { name: string }[] }).sessions.map(({ name }) => name)
}

test('the server speaks https, its cookies are Secure, and its URL says so', async () => {
  expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
  const login = await ask('/api/login', { agent: trusting('ca'), body: { password: PASSWORD } })
  expect([login.status, login.certificate]).toEqual([200, 'first'])
  expect(login.headers['set-cookie']).toEqual([expect.stringMatching(/; HttpOnly; Secure; SameSite=Strict$/)])
  await expect(ask('/healthz', { agent: trusting('other-ca') })).rejects.toThrow(
    /unable to verify|self-signed/,
  )
})

test('exporters of OpenTelemetry deliver over https and gRPC with TLS', async () => {
  const agent = trusting('ca')
  const { secret } = await ingestKey(agent)
  const ca = readFileSync(at('ca.pem'))
  const headers = { authorization: `Bearer ${secret}` }
  const overHttp = new ProtobufExporter({ url: `${server.url}/v1/traces`, headers, httpAgentOptions: { ca } })
  const overGrpc = new GrpcExporter({
    url: `https://${server.grpcAddress}`,
    credentials: credentials.createSsl(ca),
    metadata: grpcMetadata(headers),
  })

  expect(await exportSpan(overHttp, 'chat over http')).toBe(0)
  expect(await exportSpan(overGrpc, 'chat over grpc')).toBe(0)

  expect((await sessionNames(agent, secret)).toSorted()).toEqual(['chat over grpc', 'chat over http'])
})

function grpcMetadata(headers: Record<string, string>): Metadata {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  return metadata
}

const cli = fileURLToPath(new URL('../../playhead/src/cli/main.ts', import.meta.url))

async function run(args: string[], environment: Record<string, string>) {
  const child = spawn(process.execPath, ['--conditions=playhead-source', ...args], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: folder,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number]>,
  ])
  return { stdout, stderr, exitCode }
}

test('the CLI and the SDK trust a private CA through NODE_EXTRA_CA_CERTS, and the CLI says so', async () => {
  const { secret } = await ingestKey(trusting('ca'))
  const environment = { PLAYHEAD_ENDPOINT: server.url, PLAYHEAD_API_KEY: secret }
  const trusted = { ...environment, NODE_EXTRA_CA_CERTS: at('ca.pem') }
  const sdk = fileURLToPath(new URL('../../playhead/src/index.ts', import.meta.url))
  const program = `import { init, withSession, recordAction, flush } from ${JSON.stringify(sdk)}
    init(); await withSession({ name: 'over https' }, () => recordAction('act', () => 1)())
    if (!(await flush())) process.exitCode = 7`

  expect(await run(['--input-type=module-typescript', '--eval', program], trusted)).toEqual({
    stdout: '',
    stderr: '',
    exitCode: 0,
  })
  const listed = await run([cli, 'ls', '--json'], trusted)
  expect({ ...listed, stdout: listed.stdout.includes('"name":"over https"') }).toEqual({
    stdout: true,
    stderr: '',
    exitCode: 0,
  })

  expect(await run([cli, 'ls'], environment)).toEqual({
    stdout: '',
    stderr: expect.stringMatching(
      /^playhead: The connection to https:\S+ failed: unable to verify the first certificate.*\nThis machine does not trust the certificate\. If a private CA issued it: NODE_EXTRA_CA_CERTS=ca\.pem playhead …\n$/,
    ) as string,
    exitCode: 1,
  })
  const plain = server.url.replace('https:', 'http:')
  expect((await run([cli, 'ls'], { ...trusted, PLAYHEAD_ENDPOINT: plain })).stderr).toContain(
    `If the server uses https, set the URL to ${server.url}.`,
  )
})

test('a renewed certificate is used without a restart, and open connections go on', async () => {
  const [open, renewed] = [trusting('ca', true), trusting('other-ca')]
  const { secret, cookie } = await ingestKey(open)
  const headers = { authorization: `Bearer ${secret}` }
  const metadata = grpcMetadata(headers)
  const grpcExporter = (authority: string) =>
    new GrpcExporter({
      url: `https://${server.grpcAddress}`,
      credentials: credentials.createSsl(readFileSync(at(`${authority}.pem`))),
      metadata,
    })
  const openGrpc = grpcExporter('ca')
  expect(await exportSpan(openGrpc, 'before')).toBe(0)
  const viewer = request(`${server.url}/api/live`, { agent: trusting('ca'), headers: { cookie } }).end()
  const [live] = (await once(viewer, 'response')) as [import('node:http').IncomingMessage]
  onTestFinished(() => void viewer.destroy())

  // As certbot and Kubernetes do: one file after the other, each by a rename.
  for (const [from, to] of [
    ['second.pem', 'cert.pem'],
    ['second.key', 'key.pem'],
  ] as const) {
    copyFileSync(at(from), at(`${to}.new`))
    renameSync(at(`${to}.new`), at(to))
  }

  await expect.poll(async () => (await ask('/healthz', { agent: renewed })).certificate).toBe('second')
  expect(await ask('/healthz', { agent: open })).toMatchObject({
    status: 200,
    certificate: 'first',
    isReused: true,
  })
  expect(await exportSpan(openGrpc, 'on the open channel')).toBe(0)
  expect(await exportSpan(grpcExporter('other-ca'), 'on a new channel')).toBe(0)
  expect(await exportSpan(grpcExporter('ca'), 'refused by the client')).toMatch(/UNAVAILABLE|certificate/)
  live.setEncoding('utf8')
  let events = ''
  for await (const chunk of live) {
    events += String(chunk)
    if (events.includes('on a new channel')) break
  }
  expect(server.reports.filter((line) => line.includes('certificate'))).toEqual([
    expect.stringMatching(
      /^The server uses the renewed certificate \S+cert\.pem, valid until \d{4}-\d\d-\d\d\.$/,
    ),
  ])
})

describe('a pair that can not be used', () => {
  const open = (certPath: string, keyPath: string, report = (_: string) => {}) => {
    const tls = openTls({ certPath: at(certPath), keyPath: at(keyPath) }, report)
    tls.close()
  }

  test('is refused at the start with one sentence', () => {
    mkdirSync(at('folder'))
    writeFileSync(at('garbage.pem'), 'garbage')
    openssl('pkey', '-in', at('first.key'), '-aes256', '-passout', 'pass:secret', '-out', at('locked.key'))
    const cases: [string, string, string][] = [
      ['missing.pem', 'first.key', `PLAYHEAD_TLS_CERT is ${at('missing.pem')}, which does not exist.`],
      ['first.pem', 'missing.key', `PLAYHEAD_TLS_KEY is ${at('missing.key')}, which does not exist.`],
      ['folder', 'first.key', `PLAYHEAD_TLS_CERT is ${at('folder')}, which is a folder, not a file.`],
      [
        'garbage.pem',
        'first.key',
        `PLAYHEAD_TLS_CERT is ${at('garbage.pem')}, which contains no certificate in PEM format.`,
      ],
      [
        'first.key',
        'first.pem',
        `PLAYHEAD_TLS_CERT is ${at('first.key')}, which contains no certificate in PEM format.`,
      ],
      [
        'first.pem',
        'garbage.pem',
        `PLAYHEAD_TLS_KEY is ${at('garbage.pem')}, which contains no private key in PEM format.`,
      ],
      [
        'first.pem',
        'locked.key',
        `The key ${at('locked.key')} (PLAYHEAD_TLS_KEY) needs a passphrase. Write it without one: openssl pkey -in ${at('locked.key')} -out key.pem`,
      ],
      [
        'first.pem',
        'second.key',
        `The key ${at('second.key')} (PLAYHEAD_TLS_KEY) does not belong to the certificate ${at('first.pem')} (PLAYHEAD_TLS_CERT). Set both to the same pair; if the file holds a chain, the server's own certificate comes first.`,
      ],
    ]
    for (const [cert, key, sentence] of cases)
      expect(() => open(cert, key)).toThrow(new KnownError('TLS_UNUSABLE', sentence))
    expect(readConfig({ PLAYHEAD_TLS_CERT: 'x' })).toEqual({
      problem:
        'PLAYHEAD_TLS_CERT is set, but PLAYHEAD_TLS_KEY is not: TLS needs both a certificate and its key.',
    })
    expect(readConfig({ PLAYHEAD_TLS_KEY: 'x' })).toEqual({
      problem:
        'PLAYHEAD_TLS_KEY is set, but PLAYHEAD_TLS_CERT is not: TLS needs both a certificate and its key.',
    })
  })

  test.skipIf(process.getuid?.() === 0)('or that this user may not read', () => {
    copyFileSync(at('first.key'), at('closed.key'))
    chmodSync(at('closed.key'), 0)
    expect(() => open('first.pem', 'closed.key')).toThrow('which this user may not read.')
  })

  test('is not used when it comes as a renewal; the one before goes on', async () => {
    copyFileSync(at('first.pem'), at('renewed.pem'))
    const lines: string[] = []
    const tls = openTls({ certPath: at('renewed.pem'), keyPath: at('first.key') }, (line) => lines.push(line))
    onTestFinished(() => tls.close())
    copyFileSync(at('second.pem'), at('renewed.pem'))

    await expect
      .poll(() => lines)
      .toEqual([
        expect.stringMatching(
          /^The server goes on with its current certificate\. The key .* does not belong to the certificate/,
        ),
      ])
    expect(tls.current().cert).toEqual(readFileSync(at('first.pem')))
  })

  test('because it expired, is used with a warning', () => {
    issue('old', 'ca', -1)
    const lines: string[] = []
    open('old.pem', 'old.key', (line) => lines.push(line))
    expect(lines).toEqual([
      expect.stringMatching(
        /^The certificate \S+old\.pem is valid until \S+: clients will refuse it\. Renew it\.$/,
      ),
    ])
  })
})
