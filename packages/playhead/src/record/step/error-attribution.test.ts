import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import * as playhead from '../../index.ts'

beforeAll(() => playhead.init({ endpoint: false, capture: false }))

class ValueError extends Error {
  override name = 'ValueError'
}

const fetchCustomer = playhead.recordTool('fetch_customer_data', async (customer_id: string | null) => {
  await nextTurn()
  if (customer_id === null) throw new ValueError('customer_id cannot be null')
  return { id: customer_id }
})

async function failed(run: () => Promise<unknown>): Promise<playhead.SessionView> {
  let view: playhead.SessionView | undefined
  await playhead
    .withSession(async (session) => {
      view = session
      await run()
    })
    .catch(() => undefined)
  return view!
}

/** Each step with an error, and how it is attributed there. */
const errorsByStep = ({ steps }: playhead.SessionView) =>
  steps
    .filter(({ error }) => error !== undefined)
    .map(({ name, error }) => [
      name,
      error!.message,
      error!.isPropagated === true ? 'passed on' : 'own',
      error!.isHandled,
    ])

test('an error that passes through several steps belongs to the step that threw it', async () => {
  const billing = playhead.agent('billing', () => fetchCustomer(null))
  const session = await failed(() => playhead.recordAction('answer', () => billing())())

  expect(session.errors.map(({ type, message, step }) => [type, message, step.name])).toEqual([
    ['ValueError', 'customer_id cannot be null', 'fetch_customer_data'],
  ])
  expect(errorsByStep(session)).toEqual([
    ['session', 'customer_id cannot be null', 'passed on', undefined],
    ['answer', 'customer_id cannot be null', 'passed on', undefined],
    ['billing', 'customer_id cannot be null', 'passed on', undefined],
    ['fetch_customer_data', 'customer_id cannot be null', 'own', undefined],
  ])
  expect(session).toMatchObject({
    endState: 'fail',
    endStateReason: 'ValueError: customer_id cannot be null',
  })
  const [root, , , owner] = session.steps
  expect([root!.error!.stack, owner!.error!.stack]).toEqual([undefined, expect.stringContaining('at ')])
})

test('a caught error is marked as handled', async () => {
  const session = await failed(async () => {
    await fetchCustomer(null).catch(() => undefined)
    await fetchCustomer('c_1')
  })
  expect([session.endState, errorsByStep(session)]).toEqual([
    'success',
    [['fetch_customer_data', 'customer_id cannot be null', 'own', true]],
  ])
})

test('a caught error is handled while the session still runs, also once it was wrapped or reworded', async () => {
  const rethrow = (name: string, toError: (cause: unknown) => Error) =>
    playhead.recordAction(name, async () => {
      try {
        await fetchCustomer(null)
      } catch (cause) {
        throw toError(cause)
      }
    })
  const seen = await playhead.withSession(async (session) => {
    await fetchCustomer(null).catch(() => undefined)
    await rethrow('wrap', (cause) => new Error('no customer', { cause }))().catch(() => undefined)
    await rethrow('reword', () => new Error('try again later'))().catch(() => undefined)
    return [session.endState, errorsByStep(session)]
  })
  expect(seen).toEqual([
    'running',
    [
      ['fetch_customer_data', 'customer_id cannot be null', 'own', true],
      ['wrap', 'no customer', 'passed on', true],
      ['fetch_customer_data', 'customer_id cannot be null', 'own', true],
      ['reword', 'try again later', 'own', true],
      ['fetch_customer_data', 'customer_id cannot be null', 'own', true],
    ],
  ])
})

test('an error that wraps another one keeps it as its cause', async () => {
  const session = await failed(
    playhead.recordAction('answer', async () => {
      try {
        await fetchCustomer(null)
      } catch (cause) {
        throw new Error('the customer could not be found', { cause })
      }
    }),
  )
  expect(session.steps.find(({ name }) => name === 'answer')!.error).toMatchObject({
    message: 'the customer could not be found',
    cause: { type: 'ValueError', message: 'customer_id cannot be null' },
  })
})

test('an aggregate error keeps all errors', async () => {
  const session = await failed(
    playhead.recordAction('ask_all', () => Promise.any([fetchCustomer(null), fetchCustomer(null)])),
  )
  const step = session.steps.find(({ name }) => name === 'ask_all')!
  expect(step.error).toMatchObject({
    type: 'AggregateError',
    cause: { message: 'customer_id cannot be null' },
  })
  expect(JSON.parse(step.attributes!['playhead.step.error'] as string)).toMatchObject({
    errors: [{ type: 'ValueError' }, { type: 'ValueError' }],
  })
})

test.each<[string, unknown, string]>([
  ['isError', { isError: true, content: [{ type: 'text', text: 'no such tool' }] }, 'no such tool'],
  ['success: false', { success: false, message: 'declined' }, 'declined'],
  ['an error', { error: 'not found' }, 'not found'],
  ['an exit code', { exitCode: 2, stderr: 'no such file\nmore', stdout: '' }, 'no such file'],
])('a result with %s is a soft failure', async (_, result, message) => {
  const session = await failed(async () => playhead.recordTool('tool', () => result)())
  expect([
    session.endState,
    session.actionEvents[0]!.status,
    session.errors.map((error) => error.message),
  ]).toEqual(['success', 'soft-error', [message]])
})

test('one error object in two sessions is attributed in each', async () => {
  const shared = new ValueError('shared')
  const failing = playhead.recordAction('failing', () => Promise.reject(shared))
  const sessions = await Promise.all([failed(failing), failed(failing)])
  expect(sessions.map(({ errors }) => errors.map(({ step }) => step.name))).toEqual([
    ['failing'],
    ['failing'],
  ])
})
