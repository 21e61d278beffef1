import { expect, test } from 'vitest'
import { plantFaults, readScenarios } from '../../test/planted-faults.ts'
import type { Session } from '../session/session.ts'
import type { Step } from '../session/step.ts'
import { describeOrigin } from './describe-origin.ts'
import { createArgumentTracer } from './trace-arguments.ts'

const scenarios = Object.fromEntries(readScenarios().map(({ name, session }) => [name, session]))
const scenario = (name: string) => structuredClone(scenarios[name]!)

function originsOf({ steps }: Session, name: string): string[] {
  const trace = createArgumentTracer(steps)
  return trace(steps.find((step) => step.name === name)!).map(
    (origin) => `${origin.path} ${describeOrigin(origin) ?? '–'}`,
  )
}

test('arguments are traced to the user, to steps and to the model', () => {
  expect(originsOf(scenario('refund'), 'classify_intent')).toEqual(["message from the user's message"])
  expect(originsOf(scenario('refund'), 'fetch_customer_data')).toEqual([
    "customer_id from the user's message, via step 5 extract_customer_id · output",
  ])
  expect(originsOf(scenario('refund'), 'issue_refund')).toEqual([
    "invoice from the user's message, via step 6 fetch_customer_data · output.invoices[1].id",
    'amount from step 6 fetch_customer_data · output.invoices[0].amount',
  ])
  expect(originsOf(scenario('refund'), 'write_reply')).toEqual([
    "message from the user's message",
    'known.customer from step 6 fetch_customer_data · output',
    'known.refund from step 7 issue_refund · output',
  ])
  expect(originsOf(scenario('refund'), 'session_complete')).toEqual([
    'intent written by the model in step 4 gpt-4o, via step 3 classify_intent · output',
  ])
})

test('null is traced to the first step that returned it', () => {
  expect(originsOf(scenario('billing-fault'), 'fetch_customer_data')).toEqual([
    'customer_id null since step 5 extract_customer_id · output',
  ])
})

test('null is traced through a step that passed it on', () => {
  const session = scenario('billing-fault')
  const [extract, fetch] = session.steps.slice(-2) as [Step, Step]
  const resolve: Step = {
    ...extract,
    id: 'resolve',
    name: 'resolve_account',
    offsetMs: extract.offsetMs + extract.durationMs!,
    durationMs: 0,
    effect: 'read',
    tool: { name: 'resolve_account', arguments: { customer_id: null }, result: { customer_id: null } },
  }
  session.steps = [...session.steps.slice(0, -1), resolve, fetch]
  expect(originsOf(session, 'fetch_customer_data')).toEqual([
    'customer_id null since step 5 extract_customer_id · output, via step 6 resolve_account · output.customer_id',
  ])
})

function trailOf(steps: readonly Step[], name: string, path: string): string[] {
  const action = steps.find((step) => step.name === name)!
  const origin = createArgumentTracer(steps)(action).find((found) => found.path === path)
  return origin!.trail.map(({ number, step, did }) => `${number} ${step.name} ${did}`)
}

test('the trail of a null names the step that returned it and the model call that asked for the action', () => {
  const session = scenario('billing-fault')
  const fetch = session.steps.at(-1)!
  const ask: Step = {
    ...fetch,
    id: 'ask',
    kind: 'llm',
    name: 'gpt-4o',
    offsetMs: 0,
    status: 'ok',
    outputPreview: '→ fetch_customer_data(customer_id=null)',
  }
  delete ask.tool
  session.steps.splice(1, 0, ask)
  expect(trailOf(session.steps, 'fetch_customer_data', 'customer_id')).toEqual([
    '2 gpt-4o asked for it',
    '6 extract_customer_id returned null',
  ])
})

test('steps without payloads are searched by their previews', () => {
  const session = scenario('billing-fault')
  const extract = session.steps.find(({ name }) => name === 'extract_customer_id')!
  extract.outputPreview = 'null'
  delete extract.tool
  delete extract.output
  expect(trailOf(session.steps, 'fetch_customer_data', 'customer_id')).toEqual([
    '5 extract_customer_id returned null',
  ])
})

test('an argument that was not passed is traced to a result of its name, and to nothing else', () => {
  const session = scenario('billing-fault')
  session.steps.at(-1)!.tool!.arguments = {}
  session.steps.at(-1)!.input = {}
  expect(originsOf(session, 'fetch_customer_data')).toEqual([
    'customer_id missing since step 5 extract_customer_id · output',
  ])
  session.steps.at(-1)!.error!.message = 'invoice cannot be null'
  expect(originsOf(session, 'fetch_customer_data')).toEqual(['invoice –'])
})

test('a value that no earlier step had is reported; short and common values get no source', () => {
  const session = scenario('refund')
  const refund = session.steps.find(({ name }) => name === 'issue_refund')!
  refund.tool!.arguments = { invoice: 'INV-9999', currency: 'usd', note: 'ok', region: '', dry_run: false }
  expect(originsOf(session, 'issue_refund')).toEqual([
    'invoice not in any earlier step',
    'currency –',
    'note –',
    'region first empty here',
    'dry_run –',
  ])
})

test('a value that only appears later is no origin', () => {
  const session = scenario('refund')
  session.steps.find(({ name }) => name === 'fetch_customer_data')!.tool!.arguments = {
    customer_id: 're_2292',
  }
  expect(originsOf(session, 'fetch_customer_data')).toEqual(['customer_id not in any earlier step'])
})

test('a null is blamed only on a result whose name relates to the argument', () => {
  const session = scenario('billing-fault')
  const extract = session.steps.find(({ name }) => name === 'extract_customer_id')!
  const rename = (name: string) => {
    extract.name = name
    extract.tool!.name = name
    return originsOf(session, 'fetch_customer_data')
  }
  expect(rename('find_customer')).toEqual(['customer_id possibly null since step 5 find_customer · output'])
  expect(rename('extract_customer_id')).toEqual([
    'customer_id null since step 5 extract_customer_id · output',
  ])
  for (const unrelated of ['get_weather', 'validate', 'fetch_id_card', 'get_data'])
    expect(rename(unrelated)).toEqual(['customer_id first null here'])
})

test('of several tools that a model called at once, the argument comes from its own call', () => {
  const session = scenario('refund')
  const position = session.steps.findIndex(({ name }) => name === 'issue_refund')
  const refund = session.steps[position]!
  const given = { invoice: 'INV-7731' }
  refund.tool!.arguments = given
  const ask: Step = {
    ...refund,
    id: 'ask',
    kind: 'llm',
    name: 'gpt-4o',
    durationMs: 0,
    messages: [
      {
        role: 'assistant',
        isOutput: true,
        parts: ['read_invoice', 'issue_refund', 'send_email'].map((name) => ({
          type: 'tool-call',
          name,
          arguments: given,
        })),
      },
    ],
  }
  delete ask.tool
  session.steps.splice(position, 0, ask)
  expect(originsOf(session, 'issue_refund')).toEqual([
    `invoice written by the model in step ${position + 1} gpt-4o · issue_refund.invoice`,
  ])
})

test('common numbers are never stated as fact, and short ones have no source', () => {
  const session = scenario('refund')
  const fetch = session.steps.find(({ name }) => name === 'fetch_customer_data')!
  fetch.tool!.result = {
    limit: 10,
    retries: 0,
    port: 8080,
    year: 2026,
    size: 4096,
    code: 404,
    page: 1000,
    total: 48_213,
  }
  fetch.output = fetch.tool!.result
  const refund = session.steps.find(({ name }) => name === 'issue_refund')!
  refund.tool!.arguments = {
    limit: 10,
    retries: 0,
    isLast: true,
    port: 8080,
    year: 2026,
    size: 4096,
    code: '404',
    page: 1000,
    other: 250,
    total: 48_213,
  }
  expect(originsOf(session, 'issue_refund')).toEqual([
    'limit –',
    'retries –',
    'isLast –',
    'port possibly from step 6 fetch_customer_data · output.port',
    'year possibly from step 6 fetch_customer_data · output.year',
    'size possibly from step 6 fetch_customer_data · output.size',
    'code possibly from step 6 fetch_customer_data · output.code',
    'page possibly from step 6 fetch_customer_data · output.page',
    'other –',
    'total from step 6 fetch_customer_data · output.total',
  ])
})

test('on the corpus, 95% of bad values are traced to the step that produced them, and made-up values have no source', () => {
  const counted = { named: 0, places: 0, claims: 0, wrongClaims: 0, madeUp: 0 }
  for (const { b, bad, expected, madeUp } of plantFaults(700, 20_261_115)) {
    const trace = createArgumentTracer(b.steps)
    for (const step of b.steps)
      for (const { value, origin } of trace(step)) {
        const isClaim = origin.kind === 'step' || origin.kind === 'model' || origin.kind === 'user'
        if (bad !== undefined && value === bad.value && step.id !== bad.stepId) {
          const isNamed = origin.kind === 'step' && origin.step.id === bad.stepId
          counted.places += 1
          if (isNamed) counted.named += 1
          if (isClaim) counted.claims += 1
          if (isClaim && !isNamed) counted.wrongClaims += 1
        }
        const isMadeUp = madeUp !== undefined && value === madeUp && step.id === expected?.stepId
        if (isMadeUp) counted.madeUp += 1
        if (isMadeUp && isClaim) {
          counted.claims += 1
          counted.wrongClaims += 1
        }
      }
  }
  const precision = 1 - counted.wrongClaims / counted.claims
  console.log(
    `bad values traced to their step: ${counted.named} of ${counted.places}; precision of ${counted.claims} claims: ${precision.toFixed(3)}, with ${counted.madeUp} made-up values`,
  )
  expect(counted.places).toBeGreaterThan(50)
  expect(counted.named / counted.places).toBeGreaterThanOrEqual(0.95)
  expect(precision).toBeGreaterThanOrEqual(0.95)
})
