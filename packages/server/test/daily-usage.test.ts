import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestServer, type TestServer } from './test-server.ts'
import { DailyUsage } from '../src/access/daily-usage.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

/** Of today: the table forgets old days. */
const noon = Math.floor(Date.now() / 86_400_000) * 86_400_000 + 43_200_000
let project = 0

/** The counts of one server, with a clock that the test sets. */
async function openUsage(node: string, clock: { nowMs: number }) {
  const lines: string[] = []
  const usage = await DailyUsage.open({
    store: server.services.store,
    node,
    nowMs: () => clock.nowMs,
    report: (line) => lines.push(line),
  })
  return { usage, lines }
}

test('a quota of spans is refused from the span that reaches it until midnight UTC, with one line in the terminal', async () => {
  const clock = { nowMs: noon }
  const id = `p${project++}`
  const { usage, lines } = await openUsage('a', clock)
  const quota = { id, dailySpans: 10, dailyBytes: null }
  usage.note(id, { spans: 9, bytes: 1 })
  expect(() => usage.check(quota)).not.toThrow()
  usage.note(id, { spans: 1, bytes: 1 })
  const refusal = expect.objectContaining({ code: 'QUOTA_EXCEEDED', retryAfterSeconds: 12 * 3_600 })
  for (let request = 0; request < 3; request++) expect(() => usage.check(quota)).toThrow(refusal)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain(`Project "${id}" has used its quota of 10 spans for today (UTC)`)

  clock.nowMs += 12 * 3_600_000
  expect(() => usage.check(quota)).not.toThrow()
  expect(usage.today(id)).toEqual({ spans: 0, bytes: 0 })
})

test('a quota of bytes is refused too, and other projects are not', async () => {
  const id = `p${project++}`
  const { usage } = await openUsage('a', { nowMs: noon })
  usage.note(id, { spans: 1, bytes: 1_000_000 })
  expect(() => usage.check({ id, dailySpans: null, dailyBytes: 1_000_000 })).toThrow(/quota of 1(\.0)? MB/)
  expect(() => usage.check({ id: 'other', dailySpans: null, dailyBytes: 1_000_000 })).not.toThrow()
  expect(() => usage.check({ id, dailySpans: null, dailyBytes: null })).not.toThrow()
})

test('counts survive a restart, and servers that share a store count together', async () => {
  const clock = { nowMs: noon }
  const id = `p${project++}`
  const first = await openUsage('first', clock)
  first.usage.note(id, { spans: 5, bytes: 50 })
  await first.usage.save()
  const second = await openUsage('second', clock)
  expect(second.usage.today(id)).toEqual({ spans: 5, bytes: 50 })
  second.usage.note(id, { spans: 2, bytes: 20 })
  await second.usage.save()
  second.usage.note(id, { spans: 1, bytes: 10 })
  await second.usage.save()
  await first.usage.reload()
  expect(first.usage.today(id)).toEqual({ spans: 8, bytes: 80 })

  const restarted = await openUsage('third', clock)
  expect(restarted.usage.today(id)).toEqual({ spans: 8, bytes: 80 })
})
