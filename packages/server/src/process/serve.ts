import { flushCompileCache } from 'node:module'
import { collectGarbageSoon } from './collect-garbage.ts'
import { readConfig } from './config.ts'
import { KnownError } from '../errors/known-error.ts'
import { toReportLine } from './report-line.ts'
import type { Services } from './services.ts'
import { startServer } from './start-server.ts'

/** Implements `playhead serve`: reads the environment, starts the server and stops it on a signal. */
export async function serve(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<void> {
  const config = readConfig(environment)
  if ('problem' in config) return fail(config.problem)
  const startedAt = performance.now()
  try {
    const server = await startServer(config, (line) => console.error(`playhead: ${toReportLine(line)}`))
    console.log(`Playhead is at ${server.url} (${Math.round(performance.now() - startedAt)} ms)`)
    console.log(
      `  data        ${config.clickhouseUrl === undefined ? config.dataDirectory : 'ClickHouse at CLICKHOUSE_URL'}`,
    )
    console.log(`  OTLP/HTTP   ${server.url}/v1/traces`)
    if (server.grpcAddress !== undefined) console.log(`  OTLP/gRPC   ${server.grpcAddress}`)
    if (config.isAuthOn)
      console.log(
        '  auth        on: people log in (locked out? playhead login-link), programs need a key (playhead keys create)',
      )
    endOnSignal(() => server.stop())
    flushCompileCache()
    collectGarbageSoon()
    if (config.isDemoOn) await recordDemoAtStart(server.services)
  } catch (error) {
    if (error instanceof KnownError) return fail(error.message)
    throw error
  }
}

/** Runs while the server is up: the demo agent sends its sessions to it. */
async function recordDemoAtStart(services: Services): Promise<void> {
  try {
    const { recordDemoOnEmptyStore } = await import('../api/demo-routes.ts')
    if (await recordDemoOnEmptyStore(services.store.client, services.registry, services.site))
      console.log(
        '  demo        recorded (an example agent with a scripted model); turn it off with PLAYHEAD_DEMO=off',
      )
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    console.error(`playhead: ${toReportLine(`Could not record the demo: ${reason}`)}`)
  }
}

function endOnSignal(stop: () => Promise<void>): void {
  let isStopping = false
  const end = (signal: NodeJS.Signals) => {
    if (isStopping) process.exit(130)
    isStopping = true
    console.log(`\nPlayhead is stopping (${signal}); press Ctrl-C again to stop immediately.`)
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error)
        process.exit(1)
      },
    )
  }
  process.on('SIGINT', end)
  process.on('SIGTERM', end)
  process.on('SIGHUP', end)
  // A parent process that has an IPC channel to us wants us to stop when it does.
  if (process.connected) process.on('disconnect', () => end('SIGTERM'))
}

function fail(message: string): void {
  console.error(`playhead: ${toReportLine(message)}`)
  process.exitCode = 1
}
