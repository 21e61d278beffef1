import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { serveClickHouse } from '../src/store/engine/serve-clickhouse.ts'
import { openEngine, type Engine } from '../src/store/engine/open-engine.ts'

/*
 * A cluster of two shards in one engine, behind a port. ClickHouse's own Distributed tables send each row to a shard, query
 * both shards and combine the results. Both shards are this engine, so a filter limits each to the rows that were sent to it.
 * Everything that needs a Keeper is left out: ON CLUSTER runs once, and tables are not replicated.
 */
const CLUSTER = 'two'
const SHARDS = 2
const shardedTables = ['steps', 'logs', 'sessions', 'duplicate_calls', 'session_findings']

const folder = process.argv[2]!
const configFile = join(folder, 'cluster.xml')
const shard = '<shard><replica><host>127.0.0.1</host><port>9000</port></replica></shard>'
writeFileSync(
  configFile,
  `<clickhouse><tcp_port>9000</tcp_port><remote_servers><${CLUSTER}>${shard.repeat(SHARDS)}</${CLUSTER}></remote_servers></clickhouse>`,
)

const ownRows = `shardNum() = 0 OR sipHash64(project, session_id) % ${SHARDS} = shardNum() - 1`
const filters = shardedTables.map((table) => `'playhead.${table}_local': '${ownRows}'`)
const showOwnRows = `SET additional_table_filters = {${filters.join(', ')}}`

const engine = openEngine(join(folder, 'tables'), [`--config-file=${configFile}`])
const cluster: Engine = {
  ...engine,
  run: (statement, prepare) => engine.run(withoutKeeper(statement), [showOwnRows, ...prepare]),
}
// ClickHouse takes addresses of up to 1 MB; parameters are part of them.
const server = createServer({ maxHeaderSize: 1024 ** 2 }, (request, response) => {
  void serveClickHouse(cluster, request, response, { password: 'secret' })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.on('message', () => {
  server.close()
  server.closeAllConnections()
  void engine.close().then(() => process.exit(0))
})
process.send!({ port: (server.address() as { port: number }).port })

function withoutKeeper(statement: string): string {
  return statement
    .replaceAll(`ON CLUSTER '${CLUSTER}'`, '')
    .replaceAll(
      /Replicated(\w+)\('[^']*', '\{replica\}'(?:, ([^)]*))?\)/g,
      (_, name: string, columns = '') => `${name}(${columns})`,
    )
}
