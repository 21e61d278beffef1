import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { getRequestListener } from '@hono/node-server'
import { expect, onTestFinished, test } from 'vitest'
import { writeEventStreams } from './write-event-streams.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const EVENT = new TextEncoder().encode('event: step\ndata: {}\n\n')

/** A stream that emits the requested number of events, then waits. */
function eventSource() {
  let isCancelled = false
  let allowed = 0
  let wake = () => {}
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (allowed === 0) await new Promise<void>((resolve) => (wake = resolve))
      allowed -= 1
      controller.enqueue(EVENT)
      // The client keeps up: the queue never grows.
      await new Promise((resolve) => setImmediate(resolve))
    },
    cancel: () => {
      isCancelled = true
    },
  })
  const give = (count: number) => {
    allowed += count
    wake()
  }
  return { body, give, isCancelled: () => isCancelled }
}

async function view(body: ReadableStream<Uint8Array>): Promise<IncomingMessage> {
  const headers = { 'content-type': 'text/event-stream', 'x-test': 'kept' }
  const listener = getRequestListener(
    writeEventStreams(() => new Response(body, { headers })),
    { overrideGlobalObjects: false },
  )
  const server = createServer((request, response) => void listener(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => server.close().closeAllConnections())
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return response
}

/** Reads exactly this many bytes. */
async function read(response: IncomingMessage, bytes: number): Promise<void> {
  let received = 0
  await new Promise<void>((resolve) => {
    const onData = (chunk: Buffer) => {
      received += chunk.length
      if (received < bytes) return
      response.off('data', onData)
      resolve()
    }
    response.on('data', onData)
  })
}

test('a viewer uses no more memory, however many events it has seen', async () => {
  const { body, give } = eventSource()
  const response = await view(body)
  expect(response.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-test': 'kept' })
  const heapAfter = async (events: number) => {
    give(events)
    await read(response, events * EVENT.length)
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const before = await heapAfter(5_000)
  const after = await heapAfter(50_000)
  // With a promise per event it is 4.6 MB.
  expect((after - before) / 1024 ** 2).toBeLessThan(2)
})

test('the producer of events is told when the viewer is gone', async () => {
  const { body, give, isCancelled } = eventSource()
  const response = await view(body)
  give(1)
  await read(response, EVENT.length)
  response.destroy()
  await expect.poll(isCancelled).toBe(true)
})
