import { renderTextReplay, type Session, type SessionSummary } from '@playhead/model'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestServer, type TestServer } from '../../packages/server/test/test-server.ts'
import { outlineOf, runProgram } from '../run-example.ts'

type Run = Awaited<ReturnType<typeof runProgram>>

let server: TestServer
let demoRun: Run
let rightRun: Run
let faultyRun: Run
let demo: SessionSummary[]
let others: SessionSummary[]

beforeAll(async () => {
  server = await startTestServer()
  const environment = { PLAYHEAD_ENDPOINT: server.url }
  ;[demoRun, rightRun, faultyRun] = await Promise.all([
    runProgram('support-agent/src/record-demo.ts', {
      ...environment,
      OTEL_RESOURCE_ATTRIBUTES: 'playhead.demo=true',
    }),
    runProgram('support-agent/src/main.ts', environment),
    runProgram('support-agent/src/main.ts', { ...environment, SUPPORT_AGENT_FAULT: 'customer_id' }),
  ])
  const sessions = await server.sessions()
  demo = sessions.filter((session) => session.demo)
  others = sessions.filter((session) => !session.demo)
})
afterAll(() => server?.stop())

function find(message: string): Promise<Session> {
  const found = demo.find(({ inputPreview }) => inputPreview?.startsWith(message) === true)
  if (found === undefined) throw new Error(`No demo session for: ${message}`)
  return server.session(found.id)
}

test('the demo records sessions of every kind, with the failed one newest', () => {
  expect(demoRun).toEqual({ code: 0, output: '' })
  const [newest, ...older] = demo.map(
    ({ endState, name, inputPreview }) => `${endState} ${name}: ${inputPreview}`,
  )
  expect(newest).toBe('fail support: I was charged twice for my subscription')
  expect(older.toSorted()).toEqual([
    'fail help center: How do I share a calendar with somebody?',
    'indeterminate support: Please pay back INV-2310 once more.',
    'success order investigation: Where is my order o_9001, and what are the 11.20 dollars for?',
    'success receipts: How much was it, and where?',
    'success support: Is there an app for my phone?',
    'success support: My invoice from 1 November looks wrong, account c_77',
    'success support: Then I want a refund for INV-2292, account c_42',
    'success support: There is a duplicate charge on my account c_42',
    'success support: Which plans are there, and can I change later?',
    'success support: You billed me twice this month',
  ])
  expect(demo.every((session) => session.demo && session.cost !== null && session.cost > 0)).toBe(true)
  expect(demo.filter(({ threadId }) => threadId === 't_ada')).toHaveLength(2)
})

test('the replay of the failed session marks the null argument', async () => {
  const replay = renderTextReplay(await find('I was charged twice'))
  expect(replay.replaceAll(/\d\d:\d\d\.\d{3}/g, '00:00.000')).toContain(`\
00:00.000  Action: extract_customer_id  #5
           Input: message="I was charged twice for my subscription"
           Output: null

00:00.000  Action: fetch_customer_data  #6
           Input: customer_id=null   ← PROBLEM null since step 5 extract_customer_id · output
           Error: ValueError: customer_id cannot be null

00:00.000  Exception: ValueError
           Session ended: Fail (ValueError: customer_id cannot be null)
`)
})

test('a refund is recorded as a write with its arguments and result', async () => {
  const { session, steps } = await find('Then I want a refund')
  expect(session).toMatchObject({ endState: 'success', errorCount: 0, threadId: 't_ada' })
  expect(steps.find(({ name }) => name === 'issue_refund')).toMatchObject({
    effect: 'write',
    tool: { arguments: { invoice: 'INV-2292', amount: 129.5 }, result: { refundId: 're_2292' } },
  })
})

test('specialists run inside the coordinator, with concurrent tools', async () => {
  const run = await find('Where is my order')
  expect(run.session).toMatchObject({
    agents: ['coordinator', 'payments specialist', 'delivery specialist'],
    llmCallCount: 5,
    actionCount: 5,
  })
  expect(outlineOf(run).slice(0, 4)).toEqual([
    'workflow order investigation',
    '  agent coordinator',
    '    agent payments specialist',
    '    agent delivery specialist',
  ])
  const parcel = run.steps.find(({ name }) => name === 'track_parcel')!
  const address = run.steps.find(({ name }) => name === 'read_address')!
  expect(address.offsetMs).toBeLessThan(parcel.offsetMs + parcel.durationMs!)
})

test('a retried model call shows both attempts', async () => {
  const { session, steps } = await find('My invoice from 1 November')
  expect(session).toMatchObject({ endState: 'success', errorCount: 1 })
  const [first, second] = steps.filter(({ kind }) => kind === 'llm')
  expect(first).toMatchObject({ status: 'error', attempt: 1, error: { isHandled: true } })
  expect(second).toMatchObject({ status: 'ok', attempt: 2 })
})

test('the demo shows a soft error, a missing price, an image, reasoning and a loop', async () => {
  const refused = await find('Please pay back')
  expect(refused.steps.find(({ name }) => name === 'issue_refund')).toMatchObject({
    status: 'soft-error',
    error: { message: 'INV-2310 was paid back on 2026-11-02' },
  })
  expect((await find('Is there an app')).session.unpricedModels).toEqual(['tidewater-support-7b'])
  const receipt = (await find('How much was it')).steps.find(({ kind }) => kind === 'llm')!
  expect(receipt.usage).toMatchObject({ reasoning: 176 })
  expect(receipt.messages!.flatMap(({ parts }) => parts.map(({ type }) => type))).toEqual([
    'text',
    'text',
    'media',
    'reasoning',
    'text',
  ])
  const loop = await find('How do I share')
  const searches = loop.steps.filter(({ name }) => name === 'search_help')
  expect(searches.map(({ tool }) => tool!.arguments)).toEqual(
    Array.from({ length: 5 }, () => ({ query: 'share a calendar' })),
  )
  expect(loop.session.endStateReason).toBe('Error: no answer after 5 turns')
})

test('the agent succeeds, or fails with an injected fault', () => {
  const [right, faulty] = ['success', 'fail'].map((state) =>
    others.find(({ endState }) => endState === state)!,
  )
  const first = ['classify_intent', 'extract_customer_id']
  expect([rightRun.code, faultyRun.code]).toEqual([0, 1])
  expect(rightRun.output).toContain(`Cost: $${right!.cost}. Replay: ${right!.url}`)
  expect(faultyRun.output).toContain(`Cost: $${faulty!.cost}. Replay: ${faulty!.url}`)
  expect(right!.tools).toEqual([
    ...first,
    'find_account',
    'fetch_customer_data',
    'write_reply',
    'session_complete',
  ])
  expect(faulty!.tools).toEqual([...first, 'fetch_customer_data'])
})
