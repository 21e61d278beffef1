import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DEFAULT_PROJECT } from '../access/registry.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Services } from '../process/services.ts'

/** The example agent that records the demo: built into the package, or as it is in the repository. */
const scripts = [
  '../../dist/demo-agent/record-demo.js',
  '../../../../examples/support-agent/src/record-demo.ts',
].map((path) => fileURLToPath(new URL(path, import.meta.url)))
const PATIENCE_MS = 60_000

export function isDemoAvailable(): boolean {
  return scripts.some((path) => existsSync(path))
}

/**
 * Records the demo sessions by running the example agent, in a process of its own, against a scripted model on loopback.
 * It reaches this server the way any agent does.
 */
export async function recordDemo(services: Services, project: string): Promise<void> {
  const script = scripts.find((path) => existsSync(path))
  if (script === undefined)
    throw new KnownError('NOT_FOUND', 'The example agent is not part of this installation.')
  const { key, secret } = await services.registry.createKey({ project, name: 'demo', scopes: ['ingest'] })
  try {
    await run(script, services.config.port, secret)
  } finally {
    await services.registry.revokeKey(project, key.id)
  }
}

/** On an empty store, so that the first look shows something real. */
export async function recordDemoOnEmptyStore(services: Services): Promise<boolean> {
  if (!isDemoAvailable() || (await hasSessions(services))) return false
  await recordDemo(services, DEFAULT_PROJECT)
  return true
}

async function hasSessions({ store }: Services): Promise<boolean> {
  const result = await store.client.query({
    query: 'SELECT count() > 0 AS some FROM steps',
    format: 'JSONEachRow',
  })
  const [row] = await result.json<{ some: number }>()
  return row?.some === 1
}

function run(script: string, port: number, key: string): Promise<void> {
  const agent = spawn(
    process.execPath,
    [...(script.endsWith('.ts') ? ['--conditions=playhead-source'] : []), script],
    {
      env: {
        ...process.env,
        PLAYHEAD_ENDPOINT: `http://127.0.0.1:${port}`,
        PLAYHEAD_API_KEY: key,
        OTEL_RESOURCE_ATTRIBUTES: 'playhead.demo=true',
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  return new Promise((resolve, reject) => {
    let errors = ''
    const patience = setTimeout(() => agent.kill('SIGKILL'), PATIENCE_MS)
    agent.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-2_000)))
    agent.once('error', reject)
    agent.once('exit', (code) => {
      clearTimeout(patience)
      if (code === 0) resolve()
      else reject(new Error(`the example agent ended with code ${code}: ${errors.trim()}`))
    })
  })
}
