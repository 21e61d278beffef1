import { readFile } from 'node:fs/promises'
import parsePrometheusTextFormat from 'parse-prometheus-text-format'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bearer, startLockedServer } from './locked-server.ts'
import { hex, tracesPayload } from './otlp.ts'
import { session } from './project-server.ts'

let locked: Awaited<ReturnType<typeof startLockedServer>>
beforeAll(async () => {
  locked = await startLockedServer()
})
afterAll(() => locked.server.stop())

test('/metrics counts sessions and shows monitors to whoever may read them, and only counts to anyone', async () => {
  const { server, cookie, keys } = locked
  for (const project of ['a', 'b']) {
    const traceId = hex(16)
    const spans = session({ traceId, name: `agent of ${project}`, startMs: Date.now() - 5_000 })
    await server.request('/v1/traces', { json: tracesPayload(spans), headers: bearer(keys[project]) })
    await server.services.drain()
    await server.services.findings.computeAll(project, [traceId])
    const condition = { kind: 'silence', windowMs: 3_600_000 }
    await server.request('/api/monitors', {
      json: { name: `silence of ${project}`, condition },
      headers: bearer(keys[project]),
    })
  }
  const read = async (headers: Record<string, string> = {}) => {
    const text = await (await server.request('/metrics', { headers })).text()
    const families = parsePrometheusTextFormat(text)
    const named = families.filter(({ metrics }) =>
      metrics.some(({ labels }) => labels?.project !== undefined),
    )
    return {
      text,
      names: named.map(({ name }) => name),
      projects: [
        ...new Set(named.flatMap(({ metrics }) => metrics.flatMap(({ labels }) => labels?.project ?? []))),
      ],
    }
  }
  const families = [
    'playhead_sessions_total',
    'playhead_session_cost_dollars_total',
    'playhead_sessions_unpriced_total',
    'playhead_session_tokens_total',
    'playhead_monitor_state',
  ]
  const stranger = await read()
  expect([stranger.names, /agent|silence/.test(stranger.text)]).toEqual([[], false])
  const wrong = await read(bearer('ph_wrong'))
  expect(wrong.names).toEqual([])
  expect(await read(bearer(keys.a))).toMatchObject({ names: families, projects: ['a'] })
  expect(await read({ cookie })).toMatchObject({ names: families, projects: ['a', 'b'] })
  const { text } = await read(bearer(keys.b))
  const dashboard = await readFile(new URL('../../../docs/grafana-dashboard.json', import.meta.url), 'utf8')
  const shown = new Set(dashboard.match(/playhead_[a-z_]+/g))
  const served = new Set(text.match(/^playhead_[a-z_]+/gm))
  expect([...shown].filter((name) => !served.has(name))).toEqual([])
  expect(text).toContain('playhead_sessions_total{project="b",name="agent of b",end_state="success"} 1')
  expect(text).toContain('playhead_monitor_state{project="b",monitor="silence-of-b",state="normal"} 1')
})
