import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { startScriptedModel, type Reply } from '@playhead/scripted-model'
import { Random } from '../../../../bench/corpus/random.ts'
import * as playhead from '../../src/index.ts'
import { decodeOtlp } from '../decode-otlp.ts'
import type { Carried } from './carriers.ts'
import { doors, type Ask } from './doors.ts'

export type Sendable = { door: string; value: Carried }

/** Everything that left the process: request bodies and files on disk. */
export type Outlet = { wire: string[]; spool: string[]; recordings: string[] }

const FLUSH_EVERY = 500

/**
 * Records every value through its door, with only `init()` set up. The collector accepts everything, or refuses it so that
 * it is spooled.
 */
export async function sendPlanted(
  items: readonly Sendable[],
  options: {
    isRefused: boolean
    redact?: playhead.InitOptions['redact']
    onProgress?: (share: number) => void
  },
): Promise<Outlet> {
  const folder = await mkdtemp(join(tmpdir(), 'playhead-redaction-'))
  const collector = await startCollector(options.isRefused)
  let reply: Reply = 'Noted.'
  const model = await startScriptedModel(() => reply)
  const ask: Ask = async (path, body, given) => {
    reply = given
    const response = await fetch(`${model.url}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers,
    })
    await response.text()
    model.requests.length = 0
  }
  const spoolBefore = process.env.PLAYHEAD_SPOOL
  process.env.PLAYHEAD_SPOOL = join(folder, 'spool')
  try {
    playhead.init({
      endpoint: collector.url,
      dir: join(folder, 'recordings'),
      silent: true,
      ...(options.redact !== undefined && { redact: options.redact }),
    })
    const random = new Random(1)
    for (const [index, { door, value }] of items.entries()) {
      await playhead.withSession(async () => doors[door]!(value, ask, random))
      if (index % FLUSH_EVERY === 0) {
        await playhead.flush()
        options.onProgress?.(index / items.length)
      }
    }
    await playhead.flush()
    await playhead.shutdown({ timeoutMs: 5_000 })
    const { dropped, faults } = playhead.stats()
    if (dropped + faults > 0) throw new Error(`${dropped} steps were dropped, ${faults} faults`)
    return {
      wire: collector.bodies,
      spool: await readAll(join(folder, 'spool')),
      recordings: await readAll(join(folder, 'recordings')),
    }
  } finally {
    if (spoolBefore === undefined) delete process.env.PLAYHEAD_SPOOL
    else process.env.PLAYHEAD_SPOOL = spoolBefore
    await Promise.all([model.stop(), collector.stop()])
    await rm(folder, { recursive: true, force: true })
  }
}

/** The caller's own key: headers are never recorded. */
export const CALLERS_KEY = 'callers-own-key-of-the-model-0123456789'
const headers = { 'content-type': 'application/json', authorization: `Bearer ${CALLERS_KEY}` }

async function startCollector(isRefused: boolean) {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const bytes = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
      bodies.push(JSON.stringify(decodeOtlp(bytes)))
      response.writeHead(isRefused ? 503 : 200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies, stop }
}

async function readAll(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile())
  return Promise.all(
    files.map(async ({ parentPath, name }) => {
      const bytes = await readFile(join(parentPath, name))
      return name.endsWith('.otlp') ? JSON.stringify(decodeOtlp(bytes)) : bytes.toString()
    }),
  )
}
