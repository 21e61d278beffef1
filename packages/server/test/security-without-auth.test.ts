import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { durationRange, numberRange, parseTime } from '@playhead/model'
import { extract, pack } from 'tar-stream'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { isIngestPath } from '../src/access/origin-guard.ts'
import { safePath } from '../src/api/page-routes.ts'
import { createBodyBudget } from '../src/door/body-budget.ts'
import { toReportLine } from '../src/process/report-line.ts'
import { hex, tracesPayload } from './otlp.ts'
import { sendRaw } from './send-raw.ts'
import { switchOff } from './switch-off.ts'
import { startTestServer, type TestServer } from './test-server.ts'

/**
 * Attacks on a real server without auth. Each runs twice: against the server as it is, where it must fail, and with the
 * protection switched off, where it must succeed. Otherwise the test could not detect the attack.
 */
const MB = 1024 * 1024

let server: TestServer
const secret = `secret${hex(8)}`

beforeAll(async () => {
  server = await startTestServer()
  const span = { name: secret, startMs: Date.now() - 2_000, endMs: Date.now() - 1_000 }
  await server.request('/v1/traces', { json: tracesPayload([span, span]) })
})
afterAll(() => server.stop())

describe('a path that leads out of its folder', () => {
  const root = mkdtempSync(join(tmpdir(), 'playhead-paths-'))
  afterAll(() => rmSync(root, { recursive: true, force: true }))
  const folder = join(root, 'dist')
  const paths = ['/../secret.txt', '/..%2fsecret.txt', '/%2e%2e/secret.txt', '/../dist-of-others/secret.txt']

  test('finds no file through the dashboard; a plain join does', () => {
    for (const directory of [folder, join(root, 'dist-of-others')]) mkdirSync(directory, { recursive: true })
    for (const file of [join(root, 'secret.txt'), join(root, 'dist-of-others/secret.txt')])
      writeFileSync(file, secret)
    for (const path of paths) {
      expect([path, safePath(folder, path)]).toEqual([path, undefined])
      expect(readFileSync(join(folder, decodeURIComponent(path)), 'utf8')).toBe(secret)
    }
    expect(safePath(folder, '/assets/main.js')).toBe(join(folder, 'assets/main.js'))
  })

  test('is refused over HTTP, however it is written', async () => {
    for (const path of [
      '/../../../../etc/passwd',
      '/..%2f..%2f..%2f..%2fetc/passwd',
      '/%2e%2e/%2e%2e/etc/passwd',
    ]) {
      const answer = await sendRaw(
        server,
        `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`,
      )
      expect(answer).not.toContain('root:')
      expect(answer).toMatch(/^HTTP\/1\.1 (200|400|404)/)
    }
    for (const id of ['..%2f..%2fetc', '%2e%2e', 'a%00b'])
      expect([400, 404]).toContain((await server.request(`/api/sessions/${id}/recording`)).status)
  })

  test('in a backup is refused and nothing is written; plain unpacking writes it', async () => {
    const outside = join(root, 'outside', 'written.txt')
    const name = `../outside/written.txt`
    for (const path of [
      name,
      `objects/../${name}`,
      'objects/default/written.txt',
      `objects/../${'0'.repeat(64)}`,
    ]) {
      const response = await server.request('/api/restore', {
        method: 'POST',
        headers: { 'content-type': 'application/x-tar' },
        body: new Uint8Array(await tarOf({ 'backup.json': head, [path]: Buffer.from(secret) })),
      })
      expect(response.status).toBe(400)
      expect(await response.text()).toContain('not a Playhead table')
    }
    expect(existsSync(outside)).toBe(false)
    expect(existsSync(join(server.dataDirectory, 'objects'))).toBe(false)

    await unpackPlainly(await tarOf({ [name]: Buffer.from(secret) }), folder)
    expect(readFileSync(outside, 'utf8')).toBe(secret)
  })

  test('a backup with garbage, truncated or uncompressed parts is refused, and the server survives', async () => {
    for (const part of [
      Buffer.from('garbage'),
      gzipSync('garbage'),
      gzipSync(Buffer.alloc(9_000, 1)).subarray(0, 30),
    ]) {
      const response = await server.request('/api/restore', {
        method: 'POST',
        headers: { 'content-type': 'application/x-tar' },
        body: new Uint8Array(
          await tarOf({ 'backup.json': head, 'steps/000001.native.gz': part, 'end.json': Buffer.from('{}') }),
        ),
      })
      expect(response.status).toBe(400)
      await response.text()
      expect((await server.request('/readyz')).status).toBe(200)
    }
  })
})

const head = Buffer.from('{"playheadBackup":1,"schema":1,"createdAt":"2026-01-01T00:00:00Z"}')

async function tarOf(entries: Record<string, Buffer>): Promise<Buffer> {
  const tar = pack()
  for (const [name, content] of Object.entries(entries)) tar.entry({ name }, content)
  tar.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of tar) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

async function unpackPlainly(tar: Buffer, folder: string): Promise<void> {
  const archive = Readable.from([tar]).pipe(extract())
  for await (const entry of archive) {
    const chunks: Buffer[] = []
    for await (const chunk of entry) chunks.push(chunk as Buffer)
    const path = join(folder, entry.header.name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, Buffer.concat(chunks))
  }
}

describe('a foreign web page', () => {
  const send = (path: string, method: string, headers: Record<string, string>) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const { port } = new URL(server.url)
      const sent = httpRequest({ port, host: '127.0.0.1', path, method, headers }, (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
      sent.on('error', reject)
      sent.end(method === 'POST' ? JSON.stringify({ name: 'made by a page' }) : undefined)
    })
  const rebind = () => send('/api/sessions', 'GET', { host: 'evil.example' })
  const forge = () =>
    send('/api/projects', 'POST', {
      host: 'localhost',
      origin: 'http://evil.example',
      'content-type': 'application/json',
    })

  test('can neither read nor write through DNS rebinding', async () => {
    const [read, change] = [await rebind(), await forge()]
    expect([read.status, read.text.includes(secret), change.status]).toEqual([403, false, 403])
  })

  test('can do both if its address is taken for ours', async () => {
    switchOff(server.services.site, 'publicUrl', 'http://evil.example')
    const [read, change] = [await rebind(), await forge()]
    expect([read.status, read.text.includes(secret), change.status]).toEqual([200, true, 200])
  })
})

describe('injected lines', () => {
  const smuggled = 'x\r\nset-cookie: playhead_login=stolen\r\n'

  test('have no effect in a header; writing headers by hand lets them through', async () => {
    for (const path of [
      `/api/sessions?project=${encodeURIComponent(smuggled)}`,
      `/api/sessions/${encodeURIComponent(smuggled)}/recording`,
      `/${encodeURIComponent(smuggled)}`,
    ]) {
      const answer = await sendRaw(
        server,
        `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`,
      )
      expect(answer.split('\r\n\r\n')[0]).not.toMatch(/^set-cookie: playhead_login=stolen/im)
    }
    const careless = createServer((request, response) => {
      const name = decodeURIComponent(request.url!.slice(1))
      response.socket!.end(`HTTP/1.1 200 OK\r\nx-name: ${name}\r\ncontent-length: 0\r\n\r\n`)
    }).listen(0, '127.0.0.1')
    await once(careless, 'listening')
    onTestFinished(() => void careless.close())
    const url = `http://127.0.0.1:${(careless.address() as AddressInfo).port}`
    const answer = await sendRaw({ url }, `GET /${encodeURIComponent(smuggled)} HTTP/1.1\r\nhost: x\r\n\r\n`)
    expect(answer).toMatch(/^set-cookie: playhead_login=stolen/im)
  })

  test('in a report cannot pass for lines of the server; unescaped they would', async () => {
    const { reader } = server.services
    switchOff(reader, 'readSession', () => Promise.reject(new Error('bad\nplayhead: all is well \u001b[2J')))
    expect((await server.request(`/api/sessions/${hex(16)}`)).status).toBe(500)
    const report = server.reports.at(-1)!
    const printed = (text: string) => `playhead: ${text}`.split('\n')
    expect(printed(toReportLine(report)).filter((line) => line.startsWith('playhead:'))).toHaveLength(1)
    expect(toReportLine(report)).not.toContain('\u001b')
    expect(printed(report).filter((line) => line.startsWith('playhead:'))).toHaveLength(2)
    expect(report).toContain('\u001b')
  })
})

describe('text made for catastrophic backtracking', () => {
  const isQuick = (code: string, values: object): boolean => {
    try {
      runInNewContext(code, values, { timeout: 300 })
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false
      throw error
    }
  }

  test('does not slow down the filter parser; a careless expression would hang', () => {
    const readers = { numberRange, durationRange, isIngestPath, time: (text: string) => parseTime(text, 0) }
    for (const [name, read] of Object.entries(readers))
      for (const piece of ['1', '1.', ' ', '>', '..', '9s', '/v1/traces?', 'T', '-', '\n'])
        expect([name, piece, isQuick('read(text)', { read, text: `${piece.repeat(8_000)}!` })]).toEqual([
          name,
          piece,
          true,
        ])
    expect(isQuick('/^(\\d+)+$/.test(text)', { text: `${'1'.repeat(40)}!` })).toBe(false)
  })

  test('in a search is handled like any other text', async () => {
    for (const text of [
      'a'.repeat(400),
      '\\u'.repeat(200),
      '%'.repeat(400),
      '('.repeat(400),
      'é '.repeat(200),
    ]) {
      const response = await server.request(`/api/sessions?text=${encodeURIComponent(text)}`)
      expect(response.status).toBe(200)
      await response.arrayBuffer()
    }
  })
})

test('a decompression bomb stops at the limit; without a limit it does not', async () => {
  const bomb = new Uint8Array(gzipSync(Buffer.alloc(100 * MB)))
  const attack = async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const response = await server.request('/v1/traces', { method: 'POST', headers, body: bomb })
    return ((await response.json()) as { error: { code: string } }).error.code
  }
  expect(await attack()).toBe('BODY_TOO_LARGE')
  switchOff(server.services.bodyLimits, 'maxInflatedBytes', 1_000 * MB)
  switchOff(server.services.bodyLimits, 'budget', createBodyBudget(1_000 * MB))
  expect(await attack()).toBe('OTLP_UNREADABLE')
})

test('no URL in a span is ever requested; the check notices if one is', async () => {
  const asked: string[] = []
  const note = (message: unknown) => {
    const { request } = message as { request: { origin?: string; host?: string } }
    asked.push(String(request.origin ?? request.host))
  }
  const target = createServer((_, response) => response.end('inside')).listen(0, '127.0.0.1')
  await once(target, 'listening')
  onTestFinished(() => void target.close())
  const bait = `http://127.0.0.1:${(target.address() as AddressInfo).port}`
  const channels = ['undici:request:create', 'http.client.request.start']
  for (const channel of channels) subscribe(channel, note)
  onTestFinished(() => channels.forEach((channel) => unsubscribe(channel, note)))
  const attributes = Object.fromEntries(
    ['url.full', 'http.url', 'gen_ai.input.messages', 'server.address', 'agentops.callback'].map((key) => [
      key,
      bait,
    ]),
  )
  const traceId = hex(16)
  await server.postTraces(tracesPayload([{ traceId, name: bait, endMs: 1_700_000_001_000, attributes }]))
  await server.request(`/api/sessions/${traceId}/recording`)
  expect(asked.filter((host) => host === bait)).toEqual([])
  await (await fetch(bait)).text()
  expect(asked.filter((host) => host === bait)).toEqual([bait])
})
