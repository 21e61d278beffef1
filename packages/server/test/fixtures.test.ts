import { afterAll, describe, expect, test } from 'vitest'
import { decodeTraces, formatOf } from '../src/ingest/http/decode-otlp.ts'
import { spansToOtlpJson, type Session, type SessionSummary, type Step } from '@playhead/model'
import { spansToOtlpProtobuf } from '../src/ingest/otlp-protobuf/spans-to-otlp-protobuf.ts'
import { agentOpsRequests, otlpFolders, otlpRequests, type RecordedRequest } from './fixtures.ts'
import { startTestServer, type TestServer } from './test-server.ts'

const server = await startTestServer()
afterAll(() => server.stop())

/** Every post goes to its own project, so that all tests share one store. */
let projects = 0
async function post(
  requests: readonly RecordedRequest[],
): Promise<{ project: string; sessions: SessionSummary[] }> {
  const project = `p${(projects += 1)}`
  await server.services.registry.createProject({ id: project, name: project })
  for (const { path, contentType, body } of requests) {
    const response = await server.request(path, {
      method: 'POST',
      headers: { 'content-type': contentType, 'x-playhead-project': project },
      body: new Uint8Array(body),
    })
    expect(response.status).toBe(200)
  }
  return { project, sessions: await server.sessions(`project=${project}&limit=1000`) }
}

/** What the requests of a folder gave as they were sent. The tests that only read it share it. */
const asSent = new Map<string, Promise<{ listed: SessionSummary[]; opened: Session[] }>>()
function postAsSent(folder: string) {
  const known = asSent.get(folder)
  if (known !== undefined) return known
  const sent = post(otlpRequests(folder)).then(async (posted) => ({
    listed: posted.sessions,
    opened: await allSteps(posted),
  }))
  asSent.set(folder, sent)
  return sent
}

async function allSteps(posted: { project: string; sessions: SessionSummary[] }): Promise<Session[]> {
  return Promise.all(
    posted.sessions.map(({ id }) => server.session(id, `project=${posted.project}&payloads=all`)),
  )
}

/** What the scenario of a folder used, as far as its instrumentation reports it. */
const truths: Record<string, { input: number; calls: number; cost?: number }> = {
  'vercel-ai-v5': { input: 4368, calls: 9 },
  'vercel-ai-v7': { input: 4368, calls: 9 },
  'vercel-ai-v7legacy': { input: 4368, calls: 9 },
  'openinference-js': { input: 4000, calls: 5 },
  'openinference-openai-agents': { input: 1080, calls: 9 },
  'traceloop-0.27': { input: 3782, calls: 4 },
  'mastra-1.71': { input: 240, calls: 2 },
  'langfuse-js-v5': { input: 360, calls: 3 },
  'claude-code-2.1': { input: 7040, calls: 2, cost: 0.01728 },
  'agentops-ts-0.1.0': { input: 360, calls: 3 },
  'otel-instrumentation-openai-js': { input: 248, calls: 3 },
  'openai-agents-js-0.20': { input: 1080, calls: 9 },
}

describe.each(otlpFolders())('%s', (folder) => {
  const requests = otlpRequests(folder)

  test('counts the tokens and calls that were used, each once', async () => {
    const { listed, opened } = await postAsSent(folder)
    const counted = opened
      .flatMap(({ steps }) => steps)
      .filter((step) => step.usageScope === 'call' && (step.usage?.input ?? 0) > 0)
    const truth = truths[folder]!
    expect({
      input: sum(listed.map(({ usage }) => usage.input ?? 0)),
      calls: counted.length,
      ...(truth.cost !== undefined && { cost: sum(listed.map(({ cost }) => cost ?? 0)) }),
    }).toEqual({
      ...truth,
      ...(truth.cost !== undefined && { cost: expect.closeTo(truth.cost, 6) as number }),
    })
  })

  test('the list and the route of a session return the same summary', async () => {
    const { listed, opened } = await postAsSent(folder)

    for (const [index, { session }] of opened.entries())
      expect({ ...listed[index], url: '' }).toEqual({ ...session, url: '' })
  })

  test('a session has the same payloads whether its first screen or all of it is opened', async () => {
    const posted = await post(requests)
    // Waits until all rows are in the store.
    await server.request(`/api/values?field=model&project=${posted.project}`)

    for (const { id } of posted.sessions) {
      const first = await server.session(id, `project=${posted.project}`)
      const { steps } = await server.session(id, `project=${posted.project}&payloads=all`)
      expect(first.steps.filter(({ hasPayload }) => hasPayload)).toEqual(
        steps.filter((_, index) => first.steps[index]!.hasPayload),
      )
    }
  })

  test('posting twice, backwards or span by span gives the same sessions', async () => {
    const { opened } = await postAsSent(folder)

    const shuffled = await allSteps(
      await post([...requests.toReversed().flatMap(splitBackwards), ...requests]),
    )

    expect(shuffled.map(comparable)).toEqual(opened.map(comparable))
  })

  test.runIf(requests.some(isTraces))(
    'the same spans as JSON and as protobuf give the same steps',
    async () => {
      const { opened } = await postAsSent(folder)
      const spans = requests
        .filter(isTraces)
        .flatMap(({ body, contentType }) => decodeTraces(body, formatOf(body, contentType)).items)
      const isJson = requests.find(isTraces)!.contentType.includes('json')
      const other = {
        path: '/v1/traces',
        contentType: isJson ? 'application/x-protobuf' : 'application/json',
        body: isJson ? spansToOtlpProtobuf(spans) : Buffer.from(JSON.stringify(spansToOtlpJson(spans))),
      }
      const rest = requests.filter((request) => !isTraces(request))

      const inOtherFormat = await allSteps(await post([...rest, other]))

      expect(inOtherFormat.map(comparable)).toEqual(opened.map(comparable))
    },
  )
})

describe.each(['py0421', 'npm010'])('agentops-sdk/%s', (folder) => {
  test('the original OTLP requests give sessions with their steps, errors and end states', async () => {
    const posted = await post(agentOpsRequests(folder))

    const sessions = await allSteps(posted)
    expect(sessions.map(({ session, steps }) => outline(session, steps))).toMatchSnapshot()
  })
})

test.each(otlpFolders())('%s: kinds, names, parents and errors are right', async (folder) => {
  const { opened } = await postAsSent(folder)

  expect(opened.map(({ session, steps }) => outline(session, steps))).toMatchSnapshot()
})

/** One line for each step, indented by its depth. */
function outline(session: SessionSummary, steps: readonly Step[]): string {
  const depths = new Map<string, number>()
  const lines = steps.map((step) => {
    const depth = step.parentId === null ? 0 : (depths.get(step.parentId) ?? -1) + 1
    depths.set(step.id, depth)
    const facts = [
      step.status === 'ok' ? '' : step.status,
      step.error === undefined
        ? ''
        : `${step.error.type}: ${step.error.message.slice(0, 60)}${step.error.isPropagated ? ' (propagated)' : ''}${step.error.isHandled ? ' (handled)' : ''}`,
      step.usage === undefined
        ? ''
        : `${step.usageScope} ${step.usage.input ?? '–'}/${step.usage.output ?? '–'}`,
      step.isOrphan ? 'orphan' : '',
    ]
    return `${'  '.repeat(depth)}${step.kind} ${step.name}${facts
      .filter(Boolean)
      .map((fact) => ` · ${fact}`)
      .join('')}`
  })
  const end = session.endState === 'running' ? 'open' : session.endState
  return [
    `${session.name} · ${end}${session.threadId === undefined ? '' : ' · thread'}${session.tags.map((tag) => ` #${tag}`).join('')}`,
    ...lines,
  ].join('\n')
}

function comparable({ session, steps }: Session): unknown {
  return { ...session, url: '', steps: steps.map((step) => ({ ...step })) }
}

function isTraces({ path }: RecordedRequest): boolean {
  return path.includes('/v1/traces') && !path.includes('ingest')
}

/** Splits a request into one for each span, in reverse order. */
function splitBackwards(request: RecordedRequest): RecordedRequest[] {
  if (!isTraces(request)) return [request]
  const { items: spans } = decodeTraces(request.body, formatOf(request.body, request.contentType))
  return spans.toReversed().map((span) => ({
    path: request.path,
    contentType: 'application/x-protobuf',
    body: spansToOtlpProtobuf([span]),
  }))
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

export type { TestServer }
