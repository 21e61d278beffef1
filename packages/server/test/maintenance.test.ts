import { expect, test } from 'vitest'
import { applyRetention } from '../src/maintenance/retention.ts'
import { hex } from './otlp.ts'
import { DAY, describeWithEachEngine, NOW, session } from './project-server.ts'
import { startTestServer, type TestServer } from './test-server.ts'

describeWithEachEngine((api) => {
  test('retention deletes expired sessions and nothing else', async () => {
    await api.freshProject()
    await api.post(session({ name: 'fresh' }), session({ name: 'stale', startMs: NOW - 10 * DAY }))
    await api.server.sessions(`project=${api.project}`)
    await api.server.services.registry.updateProject(api.project, { retentionDays: 7 })

    await applyRetention(api.server.services, Date.now())

    expect(await api.names('')).toEqual(['fresh'])
  })

  test('repricing reports what changed for each model', async () => {
    await api.freshProject()
    await api.post(
      session({ name: 'mine', model: 'my-own-model', tokens: [1_000_000, 100_000] }),
      session({ name: 'known', model: 'gpt-4o' }),
    )
    expect((await api.server.sessions(`project=${api.project}&name=mine`))[0]).toMatchObject({
      cost: null,
      unpricedModels: ['my-own-model'],
    })
    const priceOverrides = [{ model: 'my-own-*', inputPerMillion: 2, outputPerMillion: 10 }]
    const patched = await api.server.request(`/api/projects/${api.project}`, {
      method: 'PATCH',
      json: { priceOverrides },
    })
    expect(patched.status).toBe(200)

    const response = await api.server.request(`/api/reprice?project=${api.project}`, { method: 'POST' })
    const lines = (await response.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { result?: unknown })

    expect(lines.at(-1)?.result).toEqual({
      project: api.project,
      sessions: 1,
      steps: 1,
      models: [{ model: 'my-own-model', steps: 1, before: null, after: 3 }],
      unpricedModels: [],
    })
    expect((await api.server.sessions(`project=${api.project}&name=mine`))[0]).toMatchObject({
      cost: 3,
      unpricedModels: [],
    })
    expect(
      (
        await api.server.session(
          (await api.server.sessions(`project=${api.project}&name=mine`))[0]!.id,
          `project=${api.project}`,
        )
      ).session.cost,
    ).toBe(3)
  })

  test('repricing corrects what a call is said to lack', async () => {
    await api.freshProject()
    await api.post([
      {
        traceId: hex(16),
        startMs: NOW,
        endMs: NOW + 1_000,
        attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'my-silent-model' },
      },
      {
        traceId: hex(16),
        startMs: NOW - 1_000,
        endMs: NOW,
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.request.model': 'my-short-model',
          'gen_ai.usage.input_tokens': 1_000_000,
        },
      },
    ])
    const lacks = async () =>
      (await api.server.sessions(`project=${api.project}`)).map(
        ({ cost, unpricedModels, modelsWithoutUsage, modelsWithoutOutput }) => [
          cost,
          unpricedModels,
          modelsWithoutUsage ?? [],
          modelsWithoutOutput ?? [],
        ],
      )
    expect(await lacks()).toEqual([
      [null, ['my-silent-model'], ['my-silent-model'], []],
      [null, ['my-short-model'], [], ['my-short-model']],
    ])
    const priceOverrides = [{ model: 'my-*', inputPerMillion: 2, outputPerMillion: 10 }]
    await api.server.request(`/api/projects/${api.project}`, { method: 'PATCH', json: { priceOverrides } })

    const response = await api.server.request(`/api/reprice?project=${api.project}`, { method: 'POST' })

    expect(await response.text()).toContain('"sessions":1,"steps":1')
    expect(await lacks()).toEqual([
      [null, [], ['my-silent-model'], []],
      [2, [], [], ['my-short-model']],
    ])
  })

  test('deriving again changes nothing as long as the rules are the same', async () => {
    await api.freshProject()
    await api.post(session({ name: 'again' }))
    const [before] = await api.server.sessions(`project=${api.project}`)

    const response = await api.server.request(`/api/rederive?project=${api.project}&all=true`, {
      method: 'POST',
    })

    expect((await response.text()).trim().split('\n').at(-1)).toContain('"steps":3')
    expect((await api.server.sessions(`project=${api.project}`))[0]).toEqual(before)
  })

  test('restores a backup of a running server into another one, and restoring twice changes nothing', async () => {
    await api.freshProject()
    await api.post(session({ name: 'kept' }), session({ name: 'kept too', error: 'it broke' }))
    const object = Buffer.from('too large for an attribute')
    const name = await api.server.services.objects.keep(api.project, object)
    const before = await api.server.sessions(`project=${api.project}`)
    const inProject = `project=${api.project}`
    const issue = await resolveOnlyIssue(api.server, api.project)
    const backup = await (await api.server.request('/api/backup')).arrayBuffer()
    const other = await startTestServer()

    for (let times = 0; times < 2; times++) {
      const response = await other.request('/api/restore', {
        method: 'POST',
        body: backup,
        headers: { 'content-type': 'application/x-tar' },
      })
      const text = await response.text()
      expect({ status: response.status, text }).toEqual({ status: 200, text })
      const restored = await other.sessions(`project=${api.project}`)
      expect(restored.map(({ url: _, ...rest }) => rest)).toEqual(before.map(({ url: _, ...rest }) => rest))
      expect(await other.services.objects.read({ project: api.project, name })).toEqual(object)
      await Promise.all(restored.map(({ id }) => other.request(`/api/sessions/${id}/findings?${inProject}`)))
      const issues = await other.request(`/api/issues?${inProject}`)
      expect(await issues.json()).toEqual({ issues: [issue], omitted: 0 })
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

async function resolveOnlyIssue(server: TestServer, project: string): Promise<unknown> {
  for (const { id } of await server.sessions(`project=${project}`))
    await server.request(`/api/sessions/${id}/findings?project=${project}`)
  const { issues } = (await (await server.request(`/api/issues?project=${project}`)).json()) as {
    issues: { id: string }[]
  }
  expect(issues).toHaveLength(1)
  const json = { state: 'resolved', version: '2', note: 'fixed' }
  return (
    await server.request(`/api/issues/${issues[0]!.id}?project=${project}`, { method: 'PATCH', json })
  ).json()
}
