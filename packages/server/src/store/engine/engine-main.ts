import { once } from 'node:events'
import { createServer } from 'node:http'
import { getPriority, setPriority } from 'node:os'
import { serveClickHouse } from './serve-clickhouse.ts'
import { freeBytesOf, withCheckedWrites } from './checked-writes.ts'
import { loadChdb, openEngine } from './open-engine.ts'

/** What the parent tells the engine process to open. */
export type EngineOptions = {
  /** The folder of the tables. */
  path: string
  /** A unix socket's path, or a port on 127.0.0.1 (0: any). */
  listen: string | number
  /** Expected in ClickHouse's own headers. Needed with a port, which anyone on the machine can reach. */
  password?: string
  /** Gives the parent's ingest and queries priority. */
  nice?: number
}

/** The messages that the engine process sends to its parent. */
export type EngineMessage =
  | { ready: true; port: number | undefined }
  | { damage: string }
  | { incompletePart: string }
  | { lowDisk: number }

// If the parent dies, an engine that outlives it would keep the data directory locked.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
// The terminal sends Ctrl-C to the whole process group, and systemd SIGTERM to every process of a service, but the
// parent decides when the engine stops: it still has rows to store.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)

loadChdb()
const options = await receiveOptions()
// Only root may raise a priority, which this would do in a server that runs with `nice`.
if (options.nice !== undefined && options.nice > getPriority()) setPriority(options.nice)
const engine = withCheckedWrites(openEngine(options.path), {
  freeBytes: async () => (await freeBytesOf(options.path)) ?? Infinity,
  onLow: (freeBytes) => process.send?.({ lowDisk: freeBytes } satisfies EngineMessage),
  endProcess,
})
const onDamage = (message: string) => process.send?.({ damage: message } satisfies EngineMessage)
const server = createServer({ maxHeaderSize: 4 * 1024 * 1024, keepAliveTimeout: 0 }, (request, response) => {
  void serveClickHouse(engine, request, response, { password: options.password, onDamage })
})
server.requestTimeout = 0
if (typeof options.listen === 'string') server.listen(options.listen)
else server.listen(options.listen, '127.0.0.1')
await once(server, 'listening')

const address = server.address()
process.send?.({
  ready: true,
  port: typeof address === 'object' ? address?.port : undefined,
} satisfies EngineMessage)

/** The server says it as soon as it has locked the folder; the process may have been started long before. */
async function receiveOptions(): Promise<EngineOptions> {
  const [message] = (await once(process, 'message')) as [{ open: EngineOptions }]
  return message.open
}

/** Never resolves, so that no pending request gets a response. */
function endProcess(reason: string): Promise<never> {
  return new Promise(() => {
    process.send?.({ incompletePart: reason } satisfies EngineMessage, () =>
      process.kill(process.pid, 'SIGKILL'),
    )
  })
}

process.on('message', (message) => {
  if (message !== 'stop') return
  server.close()
  server.closeAllConnections()
  void engine.close().then(() => process.exit(0))
})
