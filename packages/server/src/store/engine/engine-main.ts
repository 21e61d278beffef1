import { once } from 'node:events'
import { createServer } from 'node:http'
import { setPriority } from 'node:os'
import { answerClickHouse } from './answer-clickhouse.ts'
import { freeBytesOf, withCheckedWrites } from './checked-writes.ts'
import { openEngine } from './open-engine.ts'

/** What the parent tells the engine's process, as JSON in its first argument. */
export type EngineOptions = {
  /** Where the engine keeps its tables. */
  path: string
  /** A unix socket's path, or a port on 127.0.0.1 (0: any). */
  listen: string | number
  /** Asked for in ClickHouse's own headers; needed with a port, since anyone on the machine can reach that. */
  password?: string
  /** Lets ingest and queries of the parent go first. */
  nice?: number
}

/** What the engine's process tells its parent. */
export type EngineMessage =
  | { ready: true; port: number | undefined }
  | { damage: string }
  | { cutShort: string }
  | { lowDisk: number }

const options = JSON.parse(process.argv[2] ?? '{}') as EngineOptions

// The parent may die without a word; an engine that outlives it would keep the data directory locked.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
// The terminal sends Ctrl-C to the whole group; the parent decides when the engine goes.
process.on('SIGINT', () => undefined)

if (options.nice !== undefined) setPriority(options.nice)
const engine = withCheckedWrites(openEngine(options.path), {
  room: async () => (await freeBytesOf(options.path)) ?? Infinity,
  onLow: (room) => process.send?.({ lowDisk: room } satisfies EngineMessage),
  endProcess,
})
const onDamage = (message: string) => process.send?.({ damage: message } satisfies EngineMessage)
const server = createServer(
  { maxHeaderSize: 4 * 1024 * 1024, keepAliveTimeout: 60_000 },
  (request, response) => {
    void answerClickHouse(engine, request, response, { password: options.password, onDamage })
  },
)
server.requestTimeout = 0
if (typeof options.listen === 'string') server.listen(options.listen)
else server.listen(options.listen, '127.0.0.1')
await once(server, 'listening')

const address = server.address()
process.send?.({
  ready: true,
  port: typeof address === 'object' ? address?.port : undefined,
} satisfies EngineMessage)

/** Whoever waits for an answer of this process gets none. */
function endProcess(reason: string): Promise<never> {
  return new Promise(() => {
    process.send?.({ cutShort: reason } satisfies EngineMessage, () => process.kill(process.pid, 'SIGKILL'))
  })
}

process.on('message', (message) => {
  if (message !== 'stop') return
  server.close()
  server.closeAllConnections()
  void engine.close().then(() => process.exit(0))
})
