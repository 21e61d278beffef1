import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hex, tracesPayload } from './otlp.ts'
import { startTestServer, type TestServer } from './test-server.ts'

/** A merge on a full disk leaves such files behind. */
test.each(['data.cmrk4', 'data.bin'])(
  'after damage to %s, reads fail with 503 first and then find everything',
  async (file) => {
    const server = await startTestServer()
    try {
      const session = hex(16)
      for (const count of [1, 2, 3]) {
        await server.postTraces(tracesPayload([{ traceId: session, name: `step ${count}` }]))
        await expect.poll(() => stepCount(server, session)).toBe(count)
      }
      await truncateMergedPart(server, file)

      const refused = await server.request(`/api/sessions/${session}`)
      expect(refused.status).toBe(503)
      expect(await refused.json()).toMatchObject({ error: { code: 'STORE_UNAVAILABLE' } })

      await expect.poll(() => stepCount(server, session), { timeout: 20_000 }).toBe(3)
      expect(server.services.store.engine?.restarts()).toBe(1)
      expect(server.reports).toEqual([
        expect.stringContaining('a file of the store is damaged: Code: '),
        'the embedded engine exited (SIGKILL); restarting it',
      ])
    } finally {
      await server.stop()
    }
  },
)

async function stepCount(server: TestServer, session: string): Promise<number | undefined> {
  const response = await server.request(`/api/sessions/${session}`)
  return response.ok ? ((await response.json()) as { steps: unknown[] }).steps.length : undefined
}

async function truncateMergedPart(server: TestServer, file: string): Promise<void> {
  const { client } = server.services.store
  await client.command({ query: 'OPTIMIZE TABLE steps FINAL' })
  const result = await client.query({
    query: "SELECT path FROM system.parts WHERE table = 'steps' AND active",
    format: 'JSONEachRow',
  })
  const [part] = await result.json<{ path: string }>()
  truncateSync(join(part!.path, file), file === 'data.bin' ? 100 : 0)
  await client.command({ query: 'SYSTEM DROP MARK CACHE' })
}
