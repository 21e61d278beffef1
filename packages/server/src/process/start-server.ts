import { join } from 'node:path'
import { DamagedFiles } from '../log/damaged-files.ts'
import { startStoreEngine } from '../store/start-store-engine.ts'
import type { Config } from './config.ts'
import { asDataProblem } from './data-problem.ts'
import { lockDataDirectory } from './data-lock.ts'
import { protectData } from './protect-data.ts'
import type { Services } from './services.ts'
import { openTls } from './tls-identity.ts'

export type RunningServer = {
  url: string
  /** The `host:port` of OTLP/gRPC; undefined while it is off. */
  grpcAddress: string | undefined
  services: Services
  stop(): Promise<void>
}

/** Starts everything in the order of dependencies; `stop` ends it in reverse. */
export async function startServer(config: Config, report: (line: string) => void): Promise<RunningServer> {
  const url = `${config.tls === undefined ? 'http' : 'https'}://${config.host.includes(':') ? `[${config.host}]` : config.host}:${config.port}`
  const cleanups: (() => unknown)[] = []
  const stop = async () => {
    for (const cleanUp of cleanups.toReversed()) await cleanUp()
  }
  try {
    const tls = config.tls === undefined ? undefined : openTls(config.tls, report)
    cleanups.push(() => tls?.close())
    const services = await openData(config, url, report, cleanups).catch((error: unknown) => {
      throw asDataProblem(error, config)
    })
    const { listen, listenForGrpc } = await import('./listen.ts')
    const server = await listen(services, tls)
    cleanups.push(() => {
      server.close()
      server.closeAllConnections()
    })
    const address = server.address()
    if (typeof address === 'object' && address !== null) services.site.port = address.port
    const { startMaintenance } = await import('./open-services.ts')
    startMaintenance(services, cleanups)
    const grpcAddress = await listenForGrpc(services, { ...config, tls }, cleanups)
    return { url: url.replace(/:\d+$/, `:${services.site.port}`), grpcAddress, services, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Locks the data folder and opens what is in it. */
async function openData(
  config: Config,
  url: string,
  report: (line: string) => void,
  cleanups: (() => unknown)[],
): Promise<Services> {
  const { isAuthOn, publicUrl, dataDirectory } = config
  const holder = { pid: process.pid, url: publicUrl ?? url, startedAt: new Date().toISOString(), isAuthOn }
  protectData(dataDirectory, report)
  const lock = await lockDataDirectory(dataDirectory, holder)
  cleanups.push(() => lock.release())
  const damaged = await DamagedFiles.open(join(dataDirectory, 'damaged'), report)
  const engine =
    config.clickhouseUrl === undefined
      ? await startStoreEngine({ path: join(dataDirectory, 'store'), damaged, report })
      : undefined
  // Half of the server's modules are loaded while the engine opens its folder and answers the first statements.
  const { openServices } = await import('./open-services.ts')
  const listening = import('./listen.ts')
  const services = await openServices(config, { damaged, engine }, report, cleanups)
  await listening
  return services
}
