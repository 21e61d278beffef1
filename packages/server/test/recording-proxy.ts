import { createServer, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { RecordedCall } from './agentops-recording.ts'

export type RecordingProxy = { url: string; calls: RecordedCall[]; stop(): void }

/** Forwards everything to a server, byte for byte, and records it. `delayMs` holds requests back. */
export async function startRecordingProxy(
  target: string,
  delayMs: (path: string) => number = () => 0,
): Promise<RecordingProxy> {
  const calls: RecordedCall[] = []
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const { method = 'GET', url: path = '/' } = incoming
    const headers = Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    )
    calls.push({ method, path, headers, body })
    await pause(delayMs(path))
    const passed = sendRequest(`${target}${path}`, { method, headers: incoming.headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    passed.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}
