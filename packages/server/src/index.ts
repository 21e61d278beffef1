import * as nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'
import { findNodeProblem } from './process/find-node-problem.ts'

/** Starts the server. Its modules are loaded only after the version check, because an older Node could not parse them. */
export async function serve(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<void> {
  const problem = findNodeProblem(process.versions.node)
  if (problem !== undefined) {
    process.stderr.write(`playhead: ${problem}\n`)
    process.exitCode = 1
    return
  }
  cacheCompiledCode()
  if (!environment.CLICKHOUSE_URL) {
    const engine = await import('./store/engine/engine-child.ts')
    engine.prepareEngine()
  }
  const server = await import('./process/serve.ts')
  await server.serve(environment)
}

/** Makes a link that logs in once, to the server that uses the data folder. */
export async function createLoginLink(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<{ url: string } | { problem: string }> {
  const link = await import('./process/login-link.ts')
  return link.createLoginLink(environment)
}

/** Loading code is half of the startup time, so compiled code is cached, also for the engine's process, which inherits the setting. */
function cacheCompiledCode(): void {
  const folder = fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url))
  process.env.NODE_COMPILE_CACHE ??= folder
  nodeModule.enableCompileCache(process.env.NODE_COMPILE_CACHE)
}
