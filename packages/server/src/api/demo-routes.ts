import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ClickHouseClient } from '@clickhouse/client'
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import type { Site } from '../access/addresses.ts'
import type { Gate } from '../access/caller.ts'
import { DEFAULT_PROJECT, type Registry } from '../access/registry.ts'
import { projectOf } from '../access/request-project.ts'
import { KnownError } from '../errors/known-error.ts'
import { projectParameter, jsonRoute } from './route-parts.ts'

const availableRoute = createRoute({
  ...jsonRoute('GET /api/demo', 'Whether it can'),
  summary: 'Whether this installation can record the demo sessions',
  request: { query: z.object(projectParameter) },
})

const recordRoute = createRoute({
  ...jsonRoute('POST /api/demo', 'The sessions are recorded'),
  summary: 'Record the demo sessions: runs the example agent against a scripted model on this machine',
  request: { query: z.object(projectParameter) },
})

export function addDemoRoutes(app: OpenAPIHono, { gate, site }: { gate: Gate; site: Site }): void {
  app.openapi(availableRoute, (context) => {
    projectOf(context, 'read', gate)
    return context.json({ isAvailable: isDemoAvailable() }, 200)
  })
  app.openapi(recordRoute, async (context) => {
    await recordDemo(gate.registry, site, projectOf(context, 'admin', gate))
    return context.json({ ok: true as const }, 200)
  })
}

/** Records the demo into an empty store, so that a new installation has something to show. */
export async function recordDemoOnEmptyStore(
  client: ClickHouseClient,
  registry: Registry,
  site: Site,
): Promise<boolean> {
  if (!isDemoAvailable() || (await hasSessions(client))) return false
  await recordDemo(registry, site, DEFAULT_PROJECT)
  return true
}

/** The example agent: built into the package, or its source in the repository. */
const scripts = [
  '../../dist/demo-agent/record-demo.js',
  '../../../../examples/support-agent/src/record-demo.ts',
].map((path) => fileURLToPath(new URL(path, import.meta.url)))
const TIMEOUT_MS = 60_000

function isDemoAvailable(): boolean {
  return scripts.some((path) => existsSync(path))
}

async function hasSessions(client: ClickHouseClient): Promise<boolean> {
  const result = await client.query({
    query: 'SELECT count() > 0 AS some FROM steps',
    format: 'JSONEachRow',
  })
  const [row] = await result.json<{ some: number }>()
  return row?.some === 1
}

/** Runs the example agent in a process of its own. It sends its sessions to this server as any agent does. */
async function recordDemo(registry: Registry, site: Site, project: string): Promise<void> {
  const script = scripts.find((path) => existsSync(path))
  if (script === undefined)
    throw new KnownError('NOT_FOUND', 'This installation does not include the example agent.')
  const { key, secret } = await registry.createKey({ project, name: 'demo', scopes: ['ingest'] })
  try {
    await run(script, site, secret)
  } finally {
    await registry.revokeKey(project, key.id)
  }
}

function run(script: string, { port, isTlsOn }: Site, key: string): Promise<void> {
  const agent = spawn(
    process.execPath,
    [...(script.endsWith('.ts') ? ['--conditions=playhead-source'] : []), script],
    {
      env: {
        ...process.env,
        PLAYHEAD_ENDPOINT: `${isTlsOn ? 'https' : 'http'}://127.0.0.1:${port}`,
        // It connects to this very process, whose certificate is for the name that people use.
        ...(isTlsOn && { NODE_TLS_REJECT_UNAUTHORIZED: '0' }),
        PLAYHEAD_API_KEY: key,
        OTEL_RESOURCE_ATTRIBUTES: 'playhead.demo=true',
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  return new Promise((resolve, reject) => {
    let errors = ''
    const timeout = setTimeout(() => agent.kill('SIGKILL'), TIMEOUT_MS)
    agent.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-2_000)))
    agent.once('error', reject)
    agent.once('exit', (code) => {
      clearTimeout(timeout)
      if (code === 0) resolve()
      else reject(new Error(`the example agent exited with code ${code}: ${errors.trim()}`))
    })
  })
}
