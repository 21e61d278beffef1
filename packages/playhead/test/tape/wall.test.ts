import { exec, execFile, execFileSync, execSync, fork, spawn, spawnSync } from 'node:child_process'
import dgram from 'node:dgram'
import dns from 'node:dns'
import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import tls from 'node:tls'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import * as undici from 'undici'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import * as playhead from '../../src/index.ts'
import { setTape, type ActiveTape } from '../../src/record/session/active-tape.ts'
import { playTape, type Playing } from '../../src/tape/play-tape.ts'
import { startOtlpSink, type OtlpSink } from '../otlp-sink.ts'

let reached: string[]
let refused: string[]
let server: net.Server
let port: number
let sink: OtlpSink
let playing: Playing

const tape: ActiveTape = {
  isStrict: true,
  respond: () => ({ kind: 'response', status: 200, headers: {}, chunks: ['taped'] }),
  act: () => ({ kind: 'run' }),
  onRefused: (sentence) => refused.push(sentence),
}

beforeAll(async () => {
  server = net.createServer((socket) => {
    reached.push('a connection')
    socket.on('error', () => {})
    socket.end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  port = (server.address() as AddressInfo).port
  sink = await startOtlpSink()
  playhead.init({ endpoint: sink.url })
})

afterAll(async () => {
  await playhead.shutdown()
  await sink.stop()
  server.close()
})

beforeEach(() => {
  reached = []
  refused = []
  setTape(() => tape)
  playing = playTape(tape, { allowSpawn: ['true', 'node'] })
})

afterEach(() => {
  playing.stop()
  setTape(undefined)
})

const taken = { net: net.connect, tls: tls.connect }
const failure = { code: 'ERR_PLAYHEAD_REFUSED' }

async function failureOf(emitter: NodeJS.EventEmitter): Promise<Error> {
  const [error] = (await once(emitter, 'error')) as [Error]
  return error
}

describe('no connection', () => {
  test.each<[string, () => NodeJS.EventEmitter]>([
    ['a socket of its own', () => new net.Socket().connect(port, '127.0.0.1')],
    ['a connect taken before', () => taken.net(port, '127.0.0.1')],
    ['a connect of TLS taken before', () => taken.tls(port, '127.0.0.1')],
  ])('%s', async (_name, connect) => {
    expect(await failureOf(connect())).toMatchObject(failure)
    expect(refused).toEqual([
      `The run tried to connect to 127.0.0.1:${port}, which is not on the tape. Record what makes the connection with recordTool.`,
    ])
    expect(reached).toEqual([])
  })

  test('a protocol that is not HTTP, and one whose server speaks first', async () => {
    const spoken = net.connect(port, '127.0.0.1')
    spoken.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]))
    const silent = net.connect({ port, host: '127.0.0.1' })
    for (const socket of [spoken, silent]) expect(await failureOf(socket)).toMatchObject(failure)
    expect(refused).toEqual([
      expect.stringContaining(`connection to 127.0.0.1:${port} that does not speak HTTP`),
      expect.stringContaining(`connection to 127.0.0.1:${port} that does not speak HTTP`),
    ])
    expect(reached).toEqual([])
  })

  test('a connection that a pool kept from before', async () => {
    playing.stop()
    setTape(undefined)
    const paths: (string | undefined)[] = []
    const model = http.createServer((request, response) => {
      paths.push(request.url)
      response.end('live')
    })
    await once(model.listen(0, '127.0.0.1'), 'listening')
    const origin = `http://127.0.0.1:${(model.address() as AddressInfo).port}`
    const agent = new undici.Agent()
    const ask = async (path: string) =>
      (await undici.request(`${origin}${path}`, { method: 'POST', body: 'x', dispatcher: agent })).body.text()
    expect(await ask('/before')).toBe('live')
    // The connection goes back to the pool.
    await nextTurn()
    setTape(() => tape)
    playing = playTape(tape)
    await expect(ask('/refused')).rejects.toThrow('opened before the tape was active')
    expect(await ask('/taped')).toBe('taped')
    expect(paths).toEqual(['/before'])
    await agent.destroy()
    model.close()
  })

  test('datagrams', async () => {
    const socket = dgram.createSocket('udp4')
    expect(await new Promise((resolve) => socket.send('x', port, '127.0.0.1', resolve))).toMatchObject(
      failure,
    )
    socket.send('x', port, '127.0.0.1')
    expect(await failureOf(socket)).toMatchObject(failure)
    socket.close()
  })

  test('WebSockets', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`)
    await once(socket as unknown as EventTarget, 'error')
    expect(reached).toEqual([])
  })

  test.each<[string, () => Promise<unknown>]>([
    ['dns.lookup', () => promisify(dns.lookup)('model.invalid')],
    ['dns.resolve4', () => promisify(dns.resolve4)('model.invalid')],
    ['dns.promises.lookup', () => dns.promises.lookup('model.invalid')],
    ['dns.promises.resolveMx', () => dns.promises.resolveMx('model.invalid')],
    [
      'Resolver',
      () =>
        promisify((name: string, done: () => void) => new dns.Resolver().resolve(name, done))(
          'model.invalid',
        ),
    ],
    ['promises.Resolver', () => new dns.promises.Resolver().resolveTxt('model.invalid')],
  ])('%s', async (_name, look) => {
    await expect(look()).rejects.toMatchObject(failure)
    expect(refused).toEqual(['The run tried to look up model.invalid, which is not on the tape.'])
    expect((await dns.promises.lookup('127.0.0.1')).address).toBe('127.0.0.1')
  })
})

test('what the SDK records is delivered, while the same server is refused to the run', async () => {
  playhead.withSession({ name: 'behind the wall' }, () => undefined)
  expect(await playhead.flush()).toBe(true)
  expect(sink.names()).toContain('behind the wall')
  const before = sink.requestCount
  expect(await (await fetch(`${sink.url}/v1/traces`)).text()).toBe('taped')
  expect(sink.requestCount).toBe(before)
  expect(refused).toEqual([])
})

describe('no programs', () => {
  const sentence =
    'The run tried to start "curl http://127.0.0.1". A program that it starts can reach the network, so it is refused. ' +
    "Record what starts it with recordTool, or allow it in playhead.config.ts: allowSpawn: ['curl']."
  const args = ['http://127.0.0.1']

  test.each<[string, () => Promise<unknown>]>([
    ['spawn', async () => Promise.reject(await failureOf(spawn('curl', args)))],
    ['execFile', () => promisify(execFile)('curl', args)],
    ['execFileSync', async () => execFileSync('curl', args)],
    ['spawnSync', async () => Promise.reject(spawnSync('curl', args).error)],
    ['execSync', async () => execSync('curl http://127.0.0.1')],
  ])('%s', async (_name, run) => {
    await expect(run()).rejects.toMatchObject({ ...failure, message: sentence })
    expect(refused).toEqual([sentence])
  })

  test('exec and fork name the command', async () => {
    await expect(promisify(exec)('curl http://127.0.0.1')).rejects.toMatchObject(failure)
    playing.stop()
    playing = playTape(tape)
    expect(await failureOf(fork('/nothing.js'))).toMatchObject(failure)
    expect(refused[0]).toContain("allowSpawn: ['curl']")
    expect(refused[1]).toContain("allowSpawn: ['node']")
  })

  test('what is allowed runs, but a shell is asked for no more than that', async () => {
    expect(spawnSync('true').status).toBe(0)
    expect((await once(spawn('true'), 'exit'))[0]).toBe(0)
    expect(execSync('true')).toEqual(Buffer.alloc(0))
    expect(refused).toEqual([])
    await expect(promisify(exec)('true; curl http://127.0.0.1')).rejects.toMatchObject(failure)
    expect(() => execSync('true && curl http://127.0.0.1')).toThrow('is refused')
  })

  test('an allowed Node program inherits what puts it behind the wall', async () => {
    process.env.PLAYHEAD_RERUN = '{"isStrict":true}'
    try {
      const script = 'process.stdout.write(String(process.env.PLAYHEAD_RERUN))'
      const child = spawn(process.execPath, ['-e', script], { env: {} })
      const [said] = (await once(child.stdout, 'data')) as [Buffer]
      expect(said.toString()).toBe('{"isStrict":true}')
      expect(spawnSync(process.execPath, ['-e', script], { env: {} }).stdout.toString()).toBe(
        '{"isStrict":true}',
      )
    } finally {
      delete process.env.PLAYHEAD_RERUN
    }
  })
})

test('a tape that is not strict has no wall, and all of it is gone afterwards', async () => {
  const connect = net.Socket.prototype.connect
  playing.stop()
  const open: ActiveTape = { ...tape, isStrict: false }
  setTape(() => open)
  playing = playTape(open)
  const socket = new net.Socket().connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.destroy()
  expect(spawnSync('true').status).toBe(0)
  playing.stop()
  expect(net.Socket.prototype.connect).not.toBe(connect)
  expect(http.Agent.prototype).not.toHaveProperty('addRequest.name', 'addTapedRequest')
  const after = net.connect(port, '127.0.0.1')
  expect(after).toBeInstanceOf(net.Socket)
  await once(after, 'connect')
  after.destroy()
})
