import { expect, test } from 'vitest'
import { sendError, startFakeServer } from '../test/fake-server.ts'
import { DevLink, type DevEvent } from './dev-link.ts'

const settingsOf = (endpoint: string) => ({
  endpoint,
  apiKey: 'ph_key',
  password: undefined,
  project: undefined,
})
const about = { agent: ['support'], host: 'laptop', pid: '7', version: '1' }

test('a lost connection is made again, as the same terminal, from the last event', async () => {
  const { endpoint, received } = await startFakeServer({
    'GET /api/dev/runner': (response) => {
      const isFirst = received.length === 1
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(': connected\n\n')
      // Torn in the middle: a chunk is no event.
      response.write(isFirst ? 'id: 1\nevent: code\ndata: {"code"' : 'id: 2\nevent: cancel\n')
      response.write(isFirst ? ':"é"}\n\n' : 'data: {"jobId":"12345678"}\n\n')
      if (isFirst) response.end()
    },
  })
  const link = new DevLink(settingsOf(endpoint), about)
  const stop = new AbortController()
  const [events, notes]: [DevEvent[], string[]] = [[], []]
  const on = { lost: (reason: string) => notes.push(reason), back: () => notes.push('back') }

  for await (const event of link.events(stop.signal, on)) {
    events.push(event)
    if (events.length === 2) stop.abort()
  }

  expect(events).toMatchObject([
    { name: 'code', data: { code: 'é' } },
    { name: 'cancel', data: { jobId: '12345678' } },
  ])
  expect(notes).toEqual(['The server has closed the connection.', 'back'])
  const [first, second] = received.map(({ headers, query }) => ({
    secret: headers['x-playhead-runner'],
    last: headers['last-event-id'],
    key: headers.authorization,
    agents: query.getAll('agent'),
  }))
  const key = 'Bearer ph_key'
  expect(first).toEqual({ secret: expect.any(String), last: undefined, key, agents: ['support'] })
  expect(second).toEqual({ ...first, last: '1' })
})

test('a terminal that the server refuses does not try again', async () => {
  const { endpoint, received } = await startFakeServer({
    'GET /api/dev/runner': (response) =>
      sendError(response, 403, 'FORBIDDEN', 'This key has the scopes read.'),
  })
  const events = new DevLink(settingsOf(endpoint), about).events(new AbortController().signal, {
    lost: () => undefined,
    back: () => undefined,
  })

  await expect(events.next()).rejects.toThrow('This key has the scopes read.')
  expect(received).toHaveLength(1)
})

test('a report is sent again if the server is away, but a job is never accepted twice', async () => {
  let failures = 0
  const { endpoint } = await startFakeServer({
    'GET /api/dev/runner': (response) =>
      void response.writeHead(200).write('id: 1\nevent: code\ndata: {}\n\n'),
    'POST /api/dev/jobs/12345678/events': (response, { body }) => {
      const { state } = JSON.parse(body.toString()) as { state: string }
      if (state === 'refused') return sendError(response, 409, 'CONFLICT', 'It has ended.')
      if (failures++ < 1) return void response.destroy()
      response.end('{}')
    },
  })
  const link = new DevLink(settingsOf(endpoint), about)
  const stop = new AbortController()
  await link.events(stop.signal, { lost: () => undefined, back: () => undefined }).next()
  const report = (state: 'accepted' | 'refused' | 'finished') => link.report('12345678', { state })

  expect(await report('accepted')).toBe('lost')
  failures = 0
  expect(await report('finished')).toBe('done')
  expect(await report('refused')).toBe('unwanted')
  stop.abort()
})
