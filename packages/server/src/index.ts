import * as nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'
import { findNodeProblem } from './process/find-node-problem.ts'

/** Starts the server. What it is made of is loaded only here: an older Node could not even read it. */
export async function serve(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<void> {
  const problem = findNodeProblem(process.versions.node)
  if (problem !== undefined) {
    process.stderr.write(`playhead: ${problem}\n`)
    process.exitCode = 1
    return
  }
  keepCompiledCode()
  const server = await import('./process/serve.ts')
  await server.serve(environment)
}

/** Reading the code is half of a start: what was compiled is kept, here and for the engine's process, which inherits this. */
function keepCompiledCode(): void {
  const folder = fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url))
  process.env.NODE_COMPILE_CACHE ??= folder
  nodeModule.enableCompileCache(process.env.NODE_COMPILE_CACHE)
}
