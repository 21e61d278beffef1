import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DestinationResponse } from '../../src/api/schemas/alerts.ts'
import { AlertStage, bodies, HOUR, MINUTE, titles } from './alert-stage.ts'
import { receiverForThisTest, type Receiver } from './receiver.ts'

let stage: AlertStage
beforeAll(async () => {
  stage = await AlertStage.start()
})
afterAll(() => stage.server.stop())

test('what fires within 30 seconds is one signed message, repeated after four hours, and what is resolved is said', async () => {
  const project = await stage.freshProject()
  const receiver = await receiverForThisTest()
  const { verifier } = await stage.webhook(project, receiver)
  const t0 = Date.now()
  await stage.watch(project, 'delete_all')
  await stage.watch(project, 'drop_table', { windowMs: 12 * HOUR })
  const first = await stage.send(project, {
    tool: 'delete_all',
    startMs: t0 - MINUTE,
    error: 'secret prompt text',
  })
  await stage.at(t0)
  const second = await stage.send(project, { tool: 'drop_table', startMs: t0 - MINUTE })
  await stage.at(t0 + 15_000)
  expect(receiver.received).toEqual([])
  await stage.at(t0 + 30_000)
  expect(titles(receiver)).toEqual(['2 monitors fire'])
  const [{ body, headers }] = receiver.received as [Receiver['received'][number]]
  verifier.verify(body, headers as Record<string, string>)
  expect(() => verifier.verify(`${body} `, headers as Record<string, string>)).toThrow(/signature/)
  // Three links at most, at the failing step, and nothing that anybody wrote.
  const { steps } = await stage.server.session(first, `project=${project}`)
  const failing = steps.find(({ kind }) => kind === 'action')!
  expect(JSON.parse(body)).toMatchObject({
    type: 'monitors.firing',
    data: {
      project,
      isRepeat: false,
      alerts: [
        {
          monitorId: 'no-delete-all',
          status: 'firing',
          sentence: 'a session within 1h breaks: never delete_all',
          value: '1 session',
          firedAt: new Date(t0).toISOString(),
          resolvedAt: null,
          sessions: [
            {
              name: 'support',
              url: `https://playhead.example/sessions/${first}?project=${project}&step=${failing.id}`,
              suspect: { step: 'delete_all', finding: 'error' },
            },
          ],
          url: `https://playhead.example/settings/monitors?project=${project}`,
        },
        { monitorId: 'no-drop-table', sessions: [{ url: expect.stringContaining(second) }] },
      ],
    },
  })
  expect(body).not.toContain('secret prompt text')
  expect(body).not.toContain('hello')

  // The first is resolved as its window passes; the other goes on.
  await stage.at(t0 + 2 * HOUR)
  await stage.at(t0 + 2 * HOUR + 30_000)
  expect(titles(receiver).slice(1)).toEqual(['1 monitor fires, 1 was resolved'])
  await stage.at(t0 + 6 * HOUR)
  expect(titles(receiver)).toHaveLength(2)
  await stage.at(t0 + 6 * HOUR + 31_000)
  await stage.at(t0 + 6 * HOUR + 40_000)
  expect(bodies(receiver)[2]).toMatchObject({
    data: { title: 'Firing: No drop_table', isRepeat: true },
  })
  await stage.at(t0 + 13 * HOUR)
  await stage.at(t0 + 13 * HOUR + 30_000)
  expect(bodies(receiver).at(-1)).toMatchObject({
    type: 'monitors.resolved',
    data: { title: 'Resolved: No drop_table', alerts: [{ status: 'resolved' }] },
  })
  const count = receiver.received.length
  await stage.at(t0 + 23 * HOUR)
  expect(receiver.received).toHaveLength(count)
  const log = (await stage.deliveries(project)).toReversed()
  expect(log.map(({ reason, state, isMaybeTwice }) => `${reason} ${state} ${isMaybeTwice}`)).toEqual([
    'change delivered false',
    'change delivered false',
    'repeat delivered false',
    'change delivered false',
  ])
})

test('a receiver that is dead for an hour gets the message once, then what changed meanwhile', async () => {
  const project = await stage.freshProject()
  const receiver = await receiverForThisTest()
  receiver.answer = 503
  const { verifier } = await stage.webhook(project, receiver)
  const t0 = Date.now()
  await stage.watch(project, 'delete_all')
  await stage.send(project, { tool: 'delete_all', startMs: t0 - MINUTE })
  const { alertWorker } = stage.server.services
  await stage.at(t0)
  for (let minute = 1; minute <= 60; minute += 1) await alertWorker.tick(t0 + minute * MINUTE)
  const attempts = receiver.received.length
  expect(attempts).toBeGreaterThan(4)
  expect(attempts).toBeLessThan(10)
  expect(receiver.accepted()).toEqual([])
  receiver.answer = 200
  await stage.at(t0 + 61 * MINUTE)
  for (let minute = 62; minute <= 150; minute += 1) await alertWorker.tick(t0 + minute * MINUTE)
  expect(titles(receiver)).toEqual(['Firing: No delete_all', 'Resolved: No delete_all'])
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids.slice(0, attempts + 1)).size).toBe(1)
  expect(new Set(ids).size).toBe(2)
  for (const { body, headers } of receiver.received) verifier.verify(body, headers as Record<string, string>)
  const [resolved, fired] = await stage.deliveries(project)
  expect(resolved).toMatchObject({ state: 'delivered', attempts: [{ result: 'delivered', status: 200 }] })
  expect(fired).toMatchObject({ state: 'delivered', isMaybeTwice: false })
  expect(fired!.attempts.map(({ result, status }) => `${result} ${status}`)).toEqual([
    ...Array.from({ length: attempts }, () => 'refused 503'),
    'delivered 200',
  ])
})

test('after a day of attempts a message is given up, and one without an answer says that it may arrive twice', async () => {
  const project = await stage.freshProject()
  const receiver = await receiverForThisTest()
  receiver.answer = (response) => response.destroy()
  await stage.webhook(project, receiver)
  const t0 = Date.now()
  await stage.watch(project, 'delete_all', { windowMs: 48 * HOUR })
  await stage.send(project, { tool: 'delete_all', startMs: t0 - MINUTE })
  await stage.at(t0)
  await stage.at(t0 + MINUTE)
  receiver.answer = 200
  await stage.at(t0 + 2 * MINUTE)
  expect((await stage.deliveries(project))[0]).toMatchObject({
    state: 'delivered',
    isMaybeTwice: true,
    attempts: [{ result: 'unanswered' }, { result: 'delivered' }],
  })
  // Four hours later it is repeated, to a receiver that is gone for longer than a day.
  receiver.answer = 500
  const { alertWorker } = stage.server.services
  for (let minute = 0; minute <= 28 * 60; minute += 20)
    await alertWorker.tick(t0 + 5 * HOUR + minute * MINUTE)
  const log = await stage.deliveries(project)
  const given = log.find(({ state }) => state === 'failed')!
  expect(given.attempts).toHaveLength(11)
  const tookMs = Date.parse(given.attempts.at(-1)!.at) - Date.parse(given.attempts[0]!.at)
  expect(tookMs / HOUR).toBeGreaterThan(23)
  expect(tookMs / HOUR).toBeLessThan(27)
})

test('410 turns the destination off, a change turns it on again, and deleting it cancels what waits', async () => {
  const project = await stage.freshProject()
  const receiver = await receiverForThisTest()
  receiver.answer = 410
  const { destination } = await stage.webhook(project, receiver)
  const t0 = Date.now()
  await stage.watch(project, 'delete_all', { windowMs: 48 * HOUR })
  await stage.send(project, { tool: 'delete_all', startMs: t0 - MINUTE })
  await stage.at(t0)
  await stage.at(t0 + MINUTE)
  for (let hour = 1; hour < 12; hour += 1) await stage.server.services.alertWorker.tick(t0 + hour * HOUR)
  expect(receiver.received).toHaveLength(1)
  const listed = async () => {
    const response = await stage.server.request(`/api/destinations?project=${project}`)
    return ((await response.json()) as { destinations: DestinationResponse[] }).destinations
  }
  expect(await listed()).toMatchObject([
    { id: destination.id, isEnabled: false, problem: expect.stringContaining('410') },
  ])
  expect((await stage.deliveries(project)).map(({ state }) => state)).toEqual(['failed'])

  receiver.answer = 503
  const path = `/api/destinations/${destination.id}?project=${project}`
  await stage.server.request(path, { method: 'PATCH', json: { isEnabled: true } })
  expect((await listed())[0]).not.toHaveProperty('problem')
  await stage.at(t0 + 12 * HOUR)
  expect((await stage.deliveries(project))[0]).toMatchObject({ reason: 'repeat', state: 'waiting' })
  await stage.server.request(path, { method: 'DELETE' })
  await stage.at(t0 + 13 * HOUR)
  expect((await stage.deliveries(project))[0]).toMatchObject({ reason: 'repeat', state: 'canceled' })
  expect(receiver.received).toHaveLength(2)
})

test('a paused or deleted monitor is not called good, and a monitor tells only its destinations', async () => {
  const project = await stage.freshProject()
  const [chosen, other] = [await receiverForThisTest(), await receiverForThisTest()]
  await stage.webhook(project, chosen, { id: 'chosen' })
  await stage.webhook(project, other, { id: 'other' })
  const t0 = Date.now()
  for (const action of ['delete_all', 'drop_table', 'wipe'])
    await stage.watch(project, action, { destinations: ['chosen'] })
  for (const tool of ['delete_all', 'drop_table', 'wipe'])
    await stage.send(project, { tool, startMs: t0 - MINUTE })
  await stage.at(t0)
  await stage.at(t0 + 30_000)
  expect(titles(chosen)).toEqual(['3 monitors fire'])
  const change = (id: string, options: object) =>
    stage.server.request(`/api/monitors/${id}?project=${project}`, options)
  await change('no-delete-all', { method: 'PATCH', json: { isPaused: true } })
  await change('no-drop-table', { method: 'DELETE' })
  await change('no-wipe', { method: 'PATCH', json: { destinations: ['other'] } })
  await stage.at(t0 + MINUTE)
  await stage.at(t0 + 2 * MINUTE)
  expect(bodies(chosen)[1]!.data.alerts.map(({ status, note }) => [status, note])).toEqual([
    ['resolved', 'paused'],
    ['resolved', 'deleted'],
    ['resolved', 'redirected'],
  ])
  expect(titles(other)).toEqual(['Firing: No wipe'])
})
