import { expect, test } from 'vitest'
import { applyRetention } from '../src/maintenance/retention.ts'
import { DAY, describeWithEachEngine, NOW, session } from './asked-server.ts'
import { startTestServer } from './test-server.ts'

describeWithEachEngine((asked) => {
  test('retention deletes what is older than the project keeps, and nothing else', async () => {
    await asked.freshProject()
    await asked.post(session({ name: 'fresh' }), session({ name: 'stale', startMs: NOW - 10 * DAY }))
    await asked.server.sessions(`project=${asked.project}`)
    await asked.server.services.registry.updateProject(asked.project, { retentionDays: 7 })

    await applyRetention(asked.server.services, Date.now())

    expect(await asked.names('')).toEqual(['fresh'])
  })

  test('repricing says what changed, model by model', async () => {
    await asked.freshProject()
    await asked.post(
      session({ name: 'mine', model: 'my-own-model', tokens: [1_000_000, 100_000] }),
      session({ name: 'known', model: 'gpt-4o' }),
    )
    expect((await asked.server.sessions(`project=${asked.project}&name=mine`))[0]).toMatchObject({
      cost: null,
      unpricedModels: ['my-own-model'],
    })
    const priceOverrides = [{ model: 'my-own-*', inputPerMillion: 2, outputPerMillion: 10 }]
    const patched = await asked.server.request(`/api/projects/${asked.project}`, {
      method: 'PATCH',
      json: { priceOverrides },
    })
    expect(patched.status).toBe(200)

    const response = await asked.server.request(`/api/reprice?project=${asked.project}`, { method: 'POST' })
    const lines = (await response.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { result?: unknown })

    expect(lines.at(-1)?.result).toEqual({
      project: asked.project,
      sessions: 1,
      steps: 1,
      models: [{ model: 'my-own-model', steps: 1, before: null, after: 3 }],
      unpricedModels: [],
    })
    expect((await asked.server.sessions(`project=${asked.project}&name=mine`))[0]).toMatchObject({
      cost: 3,
      unpricedModels: [],
    })
    expect(
      (
        await asked.server.session(
          (await asked.server.sessions(`project=${asked.project}&name=mine`))[0]!.id,
          `project=${asked.project}`,
        )
      ).session.cost,
    ).toBe(3)
  })

  test('deriving again changes nothing while the rules are the same', async () => {
    await asked.freshProject()
    await asked.post(session({ name: 'again' }))
    const [before] = await asked.server.sessions(`project=${asked.project}`)

    const response = await asked.server.request(`/api/rederive?project=${asked.project}&all=true`, {
      method: 'POST',
    })

    expect((await response.text()).trim().split('\n').at(-1)).toContain('"steps":3')
    expect((await asked.server.sessions(`project=${asked.project}`))[0]).toEqual(before)
  })

  test('a backup of a running server restores into another, and restoring twice changes nothing', async () => {
    await asked.freshProject()
    await asked.post(session({ name: 'kept' }), session({ name: 'kept too', error: 'it broke' }))
    const object = Buffer.from('too large for an attribute')
    const name = await asked.server.services.objects.keep(asked.project, object)
    const before = await asked.server.sessions(`project=${asked.project}`)
    const backup = await (await asked.server.request('/api/backup')).arrayBuffer()
    const other = await startTestServer()

    for (let times = 0; times < 2; times++) {
      const response = await other.request('/api/restore', {
        method: 'POST',
        body: backup,
        headers: { 'content-type': 'application/x-tar' },
      })
      expect([response.status, await response.json()]).toMatchObject([200, {}])
      const restored = await other.sessions(`project=${asked.project}`)
      expect(restored.map(({ url: _, ...rest }) => rest)).toEqual(before.map(({ url: _, ...rest }) => rest))
      expect(await other.services.objects.read({ project: asked.project, name })).toEqual(object)
    }
    const cut = await other.request('/api/restore', {
      method: 'POST',
      body: backup.slice(0, backup.byteLength - 2048),
      headers: { 'content-type': 'application/x-tar' },
    })
    expect([cut.status, await cut.text()]).toEqual([400, expect.stringContaining('incomplete') as string])
    await other.stop()
  })
})
