import { fromSkeleton, isSkeleton, type Session, type Step } from '@playhead/model'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { longSession } from '../../../e2e/sample-extremes.ts'
import { responseSchemas, type ApiResponses } from '../src/api/schemas/responses.ts'
import { LONG_SESSION_STEPS } from '../src/sessions/long-session.ts'
import { tracesPayload } from './otlp.ts'
import { startTestServer } from './test-server.ts'

type Opened = ApiResponses['GET /api/sessions/{id}']

const server = await startTestServer()
afterAll(() => server.stop())

const long = longSession(LONG_SESSION_STEPS + 1)
const short = longSession(12)
const path = `/api/sessions/${long.traceId}`
const get = async <Body>(from: string, headers: Record<string, string> = {}) =>
  (await (await server.request(from, { headers })).json()) as Body

let whole: Session
beforeAll(async () => {
  for (const { spans, resource } of [long, short]) await server.postTraces(tracesPayload(spans, resource))
  whole = await server.session(long.traceId, 'payloads=first-screen')
})

const withoutPreviews = ({ inputPreview: _, outputPreview: __, ...step }: Step) => ({
  ...step,
  isSkeleton: true,
})

/** Expects all steps of the session, those with payloads whole. */
function expectSkeleton(opened: Pick<Opened, 'skeleton' | 'steps'>, expected: readonly Step[]): void {
  const read = fromSkeleton(opened.skeleton!, opened.steps)
  expect(read).toEqual(expected.map((step) => (step.hasPayload ? step : withoutPreviews(step))))
}

describe('a long session', () => {
  test('comes as a skeleton to those who ask for it, with the first screen whole', async () => {
    const opened = await get<Opened>(`${path}?long=skeleton`)

    expect(responseSchemas['GET /api/sessions/{id}'].parse(opened)).toEqual(opened)
    expect(opened.session).toEqual(whole.session)
    expectSkeleton(opened, whole.steps)
    const failed = whole.steps.find(({ name }) => name === 'run_tests')!
    expect(opened.steps.map(({ id }) => id)).toContain(failed.id)
    expect(opened.steps.length).toBeLessThan(100)
  })

  test('comes whole to others', async () => {
    expect(whole).not.toHaveProperty('skeleton')
    expect(whole.steps).toHaveLength(LONG_SESSION_STEPS + 1)
    expect(whole.steps.filter(({ inputPreview }) => inputPreview !== undefined).length).toBeGreaterThan(1_000)
  })

  test('gives the previews of single steps', async () => {
    const some = whole.steps.slice(500, 700)
    const ids = some.map(({ id }) => id)
    const { steps } = await get<{ steps: Step[] }>(`${path}/steps?ids=${ids.join(',')}`)
    expect(steps).toEqual(some)

    const known = await get<{ steps: Step[] }>(`${path}/steps?ids=${ids[0]},0123456789abcdef`)
    expect(known.steps).toEqual([some[0]])
  })

  test('gives no more than 200 at once', async () => {
    const ids = whole.steps.slice(0, 201).map(({ id }) => id)
    const response = await server.request(`${path}/steps?ids=${ids.join(',')}`)
    expect(response.status).toBe(400)
  })
})

test('a long session that was opened before comes the same, until a step arrives late', async () => {
  const { traceId, spans, resource } = longSession(LONG_SESSION_STEPS + 2)
  await server.postTraces(tracesPayload(spans.slice(0, -1), resource))
  const open = () => get<Opened>(`/api/sessions/${traceId}?long=skeleton`)
  const first = await open()
  expect(first.skeleton?.ids).toHaveLength(LONG_SESSION_STEPS + 1)
  expect(await open()).toEqual(first)

  await server.postTraces(tracesPayload(spans.slice(-1), resource))
  const later = await open()
  expect(later.skeleton?.ids).toHaveLength(LONG_SESSION_STEPS + 2)
  expectSkeleton(later, (await server.session(traceId, 'payloads=first-screen')).steps)
})

test('a short session always comes whole', async () => {
  const shown = await server.session(short.traceId, 'payloads=first-screen')
  expect(await get(`/api/sessions/${short.traceId}?long=skeleton`)).toEqual(shown)
})

describe('the share link of a long session', () => {
  const share = async (hasContent: boolean) => {
    const response = await server.request(`${path}/shares`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ hasContent }),
    })
    const { url } = (await response.json()) as { url: string }
    return { authorization: `Bearer ${url.split('#')[1]}` }
  }
  const ids = () => whole.steps.slice(500, 600).map(({ id }) => id)

  test('with content shows what its owner sees', async () => {
    const headers = await share(true)
    const opened = await get<Opened>('/api/shared/session?long=skeleton', headers)
    expectSkeleton(opened, whole.steps)
    const { steps } = await get<{ steps: Step[] }>(`/api/shared/session/steps?ids=${ids().join()}`, headers)
    expect(steps).toEqual(whole.steps.slice(500, 600))
  })

  test('without content has no previews to request', async () => {
    const headers = await share(false)
    const opened = await get<Opened>('/api/shared/session?long=skeleton', headers)
    const read = fromSkeleton(opened.skeleton!, opened.steps)
    expect(read).toHaveLength(whole.steps.length)
    expect(read.some(isSkeleton)).toBe(false)
    const some = await get<{ steps: Step[] }>(`/api/shared/session/steps?ids=${ids().join()}`, headers)
    expect(some.steps.map(({ id }) => id)).toEqual(ids())
    for (const text of [JSON.stringify(opened), JSON.stringify(some)]) {
      expect(text).not.toMatch(/Preview|What is next|path must be|src\/module/)
    }
  })
})
