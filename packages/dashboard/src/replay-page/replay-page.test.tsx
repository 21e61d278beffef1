import { beforeEach, describe, expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import type { Message, Session } from '@playhead/model'
import type { LiveEvent } from '@playhead/server/api-types'
import { makeSession, makeStep } from '../../test/make-session.ts'
import { openReplay } from '../../test/open-replay.tsx'
import { ApiError } from '../api/call-api.ts'
import type { SessionSource } from '../api/session-source.ts'

const steps = [
  { id: 'support', kind: 'agent', durationMs: 3_000 },
  { id: 'classify_intent', parentId: 'support', offsetMs: 100, durationMs: 500 },
  { id: 'issue_refund', parentId: 'support', offsetMs: 900, durationMs: 700 },
] as const
const session = makeSession(steps, { name: 'Refund', durationMs: 3_000 })

const row = (name: string) => page.getByRole('treeitem', { name: new RegExp(`\\b${name}\\b`) })
const clock = () => document.querySelector('.transport-clock b')?.textContent
const stepCount = () => document.querySelector('.transport-count')?.textContent

beforeEach(() => page.viewport(1440, 900))

test('shows a skeleton until the session is loaded', async () => {
  const { promise, resolve } = Promise.withResolvers<Session>()
  await openReplay(session, { readSession: () => promise })
  await expect.element(page.getByRole('status', { name: 'Loading' })).toBeVisible()
  expect(page.getByRole('tree').elements()).toEqual([])
  resolve(session)
  await expect.element(row('issue_refund')).toBeVisible()
  expect(page.getByRole('heading', { level: 1 }).element().textContent).toBe('Refund')
  await expect.element(page.getByRole('status', { name: 'Loading' })).not.toBeInTheDocument()
})

test('a session without steps says so, and its controls do nothing', async () => {
  await openReplay(makeSession([], { name: 'Nothing' }))
  await expect.element(page.getByRole('tree')).toHaveTextContent('No steps were recorded.')
  expect(page.getByRole('complementary', { name: 'Notices' }).element().textContent).toBe(
    'No steps were recorded.',
  )
  await expect.element(page.getByText('No step selected')).toBeVisible()
  await userEvent.keyboard('{ArrowRight}e{End}')
  await page.getByRole('button', { name: 'Play', exact: true }).click()
  expect([clock(), stepCount()]).toEqual(['00:00.000', 'Step – of 0'])
})

describe('errors', () => {
  test('an unknown session links back to the list', async () => {
    const notFound = new ApiError(404, 'SESSION_NOT_FOUND', 'There is no such session.')
    await openReplay(session, { readSession: () => Promise.reject(notFound) })
    await expect.element(page.getByRole('heading', { name: 'Session not found' })).toBeVisible()
    await expect
      .element(page.getByRole('alert'))
      .toHaveTextContent(
        `There is no session ${session.session.id} in the project default. It may have been deleted or expired, or it may be in another project.`,
      )
    expect(page.getByRole('link', { name: 'Back to sessions' }).element().getAttribute('href')).toBe(
      '/sessions',
    )
    expect(document.title).toBe('Session not found · Playhead')
  })

  test('a server that is gone is reported, and another try loads the session', async () => {
    let isGone = true
    const gone = new ApiError(0, 'UNREACHABLE', 'The server does not answer.')
    await openReplay(session, {
      readSession: () => (isGone ? Promise.reject(gone) : Promise.resolve(session)),
    })
    await expect.element(page.getByRole('alert')).toHaveTextContent('The server does not answer.Try again')
    isGone = false
    await page.getByRole('button', { name: 'Try again' }).click()
    await expect.element(row('classify_intent')).toBeVisible()
    expect(page.getByRole('alert').elements()).toEqual([])
  })

  test('a step that cannot be loaded leaves the rest of the page alone', async () => {
    const gone = new ApiError(0, 'UNREACHABLE', 'The server does not answer.')
    await openReplay(session, { readStep: () => Promise.reject(gone) })
    await row('issue_refund').click()
    await expect.element(page.getByRole('tabpanel')).toHaveTextContent('The server does not answer.')
    expect(row('issue_refund').element().getAttribute('aria-selected')).toBe('true')
    expect(clock()).toBe('00:00.900')
  })
})

describe('a live session', () => {
  const running = makeSession([{ id: 'support', kind: 'agent', durationMs: null }], {
    endState: 'running',
    startedAt: new Date().toISOString(),
  })

  /** A source whose session grows with the events that the test sends. */
  function liveSource() {
    let current = running
    let listener: ((event: LiveEvent) => void) | undefined
    const source: Partial<SessionSource> = {
      readSession: () => Promise.resolve(current),
      watch: (_sessionId, onEvent) => {
        listener = onEvent
        return () => (listener = undefined)
      },
    }
    const send = (event: Exclude<LiveEvent, { type: 'reset' }>) => {
      current =
        event.type === 'step'
          ? { ...current, steps: [...current.steps, event.step] }
          : { ...current, session: event.session }
      listener!(event)
    }
    const addStep = (id: string, offsetMs: number) =>
      send({
        type: 'step',
        sessionId: running.session.id,
        step: makeStep({ id, parentId: 'support', offsetMs }),
      })
    return { source, send, addStep }
  }

  test('follows new steps until the user selects one, and again on demand', async () => {
    const { source, addStep } = liveSource()
    await openReplay(running, source)
    await expect.element(page.getByText('LIVE')).toBeVisible()
    addStep('search_orders', 10)
    await expect.element(row('search_orders')).toHaveAttribute('aria-selected', 'true')
    await row('support').click()
    await expect.element(page.getByRole('button', { name: 'Follow' })).toBeVisible()
    addStep('search_invoices', 30)
    await expect.element(row('search_invoices')).toHaveAttribute('aria-selected', 'false')
    expect(row('support').element().getAttribute('aria-selected')).toBe('true')
    await page.getByRole('button', { name: 'Follow' }).click()
    await expect.element(row('search_invoices')).toHaveAttribute('aria-selected', 'true')
    expect(page.getByRole('button', { name: 'Follow' }).elements()).toEqual([])
  })

  test('shows its end state once it ends', async () => {
    const { source, send } = liveSource()
    await openReplay(running, source)
    await expect.element(page.getByText('LIVE')).toBeVisible()
    send({
      type: 'session',
      sessionId: running.session.id,
      session: { ...running.session, endState: 'success', durationMs: 40 },
    })
    await expect.element(page.getByText('Success')).toBeVisible()
    expect(page.getByText('LIVE').elements()).toEqual([])
  })
})

describe('10,000 steps', () => {
  const long = makeSession(
    Array.from({ length: 10_000 }, (_, index) => ({ id: `step_${index}`, offsetMs: index * 10 })),
    { durationMs: 100_000 },
  )

  test('only the visible rows are rendered, and the end is one key away', async () => {
    await openReplay(long)
    await expect.element(row('step_0')).toBeVisible()
    expect(stepCount()).toBe('Step 1 of 10,000')
    expect(page.getByRole('treeitem').elements().length).toBeLessThan(80)
    await userEvent.keyboard('{End}')
    await expect.element(row('step_9999')).toBeInViewport()
    expect(row('step_9999').element().getAttribute('aria-selected')).toBe('true')
    expect(stepCount()).toBe('Step 10,000 of 10,000')
    expect(page.getByRole('treeitem').elements().length).toBeLessThan(80)
  })

  test('a search finds one step among them and says what it covers', async () => {
    await openReplay(long)
    await page.getByLabelText('Search this session').fill('step_7777')
    await expect.element(page.getByText(/1 step found, 9,999 hidden · names and previews only/)).toBeVisible()
    await expect.element(row('step_7777')).toBeVisible()
    expect(page.getByRole('treeitem').elements()).toHaveLength(1)
  })
})

describe('the conversation of an agent', () => {
  const said = (role: string, text: string, isOutput = false): Message => ({
    role,
    parts: [{ type: 'text', text }],
    ...(isOutput && { isOutput }),
  })
  const asked = said('user', 'Where is my order?')
  const talk = makeSession(
    [
      { id: 'support', kind: 'agent', durationMs: 3_000 },
      {
        id: 'first',
        kind: 'llm',
        parentId: 'support',
        offsetMs: 500,
        durationMs: 400,
        messages: [asked, said('assistant', 'Let me look.', true)],
      },
      {
        id: 'second',
        kind: 'llm',
        parentId: 'support',
        offsetMs: 2_000,
        durationMs: 400,
        messages: [asked, said('assistant', 'Let me look.'), said('assistant', 'It is on its way.', true)],
      },
    ],
    { durationMs: 3_000 },
  )
  const shown = page.getByRole('region', { name: 'Conversation' })
  const openAt = (timeMs: number) => openReplay(talk, {}, `?step=support&t=${timeMs}`)

  test('is that of the last call that had begun at the playhead', async () => {
    await openAt(1_500)
    await expect.element(shown.getByText('Let me look.')).toBeVisible()
    expect(shown.getByText('It is on its way.').elements()).toEqual([])
  })

  test('grows while the playhead moves on', async () => {
    await openAt(2_900)
    await expect.element(shown.getByText('It is on its way.')).toBeVisible()
  })

  test('has not begun before the first call', async () => {
    await openAt(100)
    await expect.element(shown.getByText('No model call has begun at the playhead.')).toBeVisible()
    expect(shown.getByText('It is on its way.').elements()).toEqual([])
  })

  test('is complete while the playhead rests at the start', async () => {
    await openReplay(talk)
    await expect.element(shown.getByText('It is on its way.')).toBeVisible()
  })
})

test('a stream that was aborted says so and how far it got, in the list and in the step', async () => {
  await openReplay(
    makeSession(
      [
        { id: 'support', kind: 'agent', durationMs: 3_000 },
        {
          id: 'write',
          kind: 'llm',
          parentId: 'support',
          offsetMs: 100,
          durationMs: 900,
          usage: { output: 4 },
          usageScope: 'call',
          cost: 0.01,
          outputPreview: 'Dear Ada, I',
          messages: [{ role: 'assistant', isOutput: true, parts: [{ type: 'text', text: 'Dear Ada, I' }] }],
          streaming: { isAborted: true, chunks: [[120, 'Dear Ada, I']] },
        },
      ],
      { durationMs: 3_000 },
    ),
  )
  await expect.element(row('write').getByText('aborted')).toBeVisible()
  await row('write').click()
  const step = page.getByRole('region', { name: 'Step', exact: true })
  await expect
    .element(step.getByRole('listitem'))
    .toHaveTextContent('Stream aborted after 900ms: 11 characters had arrived, the last at 120ms')
  await expect.element(step.getByText('Dear Ada, I')).toBeVisible()
  expect(document.querySelector('.step-title p')?.textContent).toContain('aborted')
})

test('a call that reported no usage says so, where its cost would stand', async () => {
  await openReplay(
    makeSession(
      [
        { id: 'support', kind: 'agent', durationMs: 3_000 },
        { id: 'write', kind: 'llm', model: 'gpt-4o', parentId: 'support', offsetMs: 100, input: 'hi' },
      ],
      { durationMs: 3_000, unpricedModels: ['gpt-4o'] },
    ),
  )
  const noUsage = 'no usage reported (OpenAI: stream_options.include_usage)'
  await expect.element(page.getByText('Cost unknown')).toHaveAttribute('title', `1 call with ${noUsage}`)
  expect(page.getByRole('complementary', { name: 'Notices' }).element().textContent).toBe(
    `The cost is incomplete: 1 call with ${noUsage}.Show`,
  )
  await page.getByRole('button', { name: 'Show' }).click()
  const step = page.getByRole('region', { name: 'Step', exact: true })
  await expect
    .element(step.getByRole('definition').filter({ hasText: 'Unknown' }))
    .toHaveTextContent(`Unknown: ${noUsage}`)
  expect(document.body.textContent).not.toContain('No price')
})

test('a step that nobody recorded is marked as inferred', async () => {
  await openReplay(
    makeSession(
      [
        { id: 'support', kind: 'agent', durationMs: 3_000 },
        { id: 'lookup', parentId: 'support', offsetMs: 100, isInferred: true, input: { id: 7 } },
      ],
      { durationMs: 3_000 },
    ),
  )
  await expect.element(row('lookup').getByText('inferred')).toBeVisible()
  expect(row('support').element().textContent).not.toContain('inferred')
  await row('lookup').click()
  await expect
    .element(page.getByRole('region', { name: 'Step', exact: true }).getByRole('listitem'))
    .toHaveTextContent('Inferred from the conversation: no instrumentation recorded this call.')
})

test('tools that fail at the same moment are one mark on the timeline, which opens each of them', async () => {
  const names = ['search_orders', 'search_invoices', 'search_users', 'search_plans', 'search_logs']
  await openReplay(
    makeSession(
      [
        { id: 'support', kind: 'agent', durationMs: 3_000 },
        ...names.map((id) => ({
          id,
          parentId: 'support',
          offsetMs: 900,
          durationMs: 30,
          status: 'error' as const,
          error: { type: 'TimeoutError', message: `${id} took too long` },
        })),
        {
          id: 'write_reply',
          parentId: 'support',
          offsetMs: 2_000,
          status: 'error',
          error: { type: 'Error', message: 'no reply' },
        },
      ],
      { durationMs: 3_000, endState: 'fail' },
    ),
  )
  await page.getByRole('button', { name: '5 errors at 00:00.900' }).click()
  expect(
    page
      .getByRole('menuitem')
      .elements()
      .map((item) => item.textContent),
  ).toEqual(names.map((name) => `${name} TimeoutError: ${name} took too long`))
  await page.getByRole('menuitem', { name: /search_users/ }).click()
  await expect.element(row('search_users')).toHaveAttribute('aria-selected', 'true')
  await page.getByRole('button', { name: 'Error at 00:02.000: write_reply' }).click()
  await expect.element(row('write_reply')).toHaveAttribute('aria-selected', 'true')
  expect(clock()).toBe('00:02.000')
})

test('on a phone the list and the step take turns, and nothing overflows', async () => {
  await page.viewport(390, 844)
  await openReplay(session)
  await expect.element(page.getByRole('radio', { name: 'Steps 3' })).toBeChecked()
  expect(page.getByRole('tab').elements()).toEqual([])
  await row('issue_refund').click()
  await expect.element(page.getByRole('radio', { name: 'This step' })).toBeChecked()
  await expect.element(page.getByRole('heading', { name: /issue_refund/ })).toBeVisible()
  expect(page.getByRole('tree').elements()).toEqual([])
  expect(document.documentElement.scrollWidth).toBe(390)
  await page.getByRole('radio', { name: 'Steps 3' }).click()
  await expect.element(row('classify_intent')).toBeVisible()
})

test('what was sent after a step had ended is shown beside what was there', async () => {
  const changes = [
    {
      at: '2026-11-16T12:00:00.000Z',
      fields: [{ field: 'status', was: 'error', sent: 'ok' }],
    },
  ]
  await openReplay(
    makeSession([
      { id: 'refund', status: 'error', error: { type: 'Declined', message: 'no' }, changes },
      { id: 'reply', offsetMs: 20 },
    ]),
  )
  await expect.element(row('refund').getByText('changed')).toBeVisible()
  await expect
    .element(page.getByRole('complementary', { name: 'Notices' }))
    .toHaveTextContent('1 step changed after the end.Show')
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByText('Changed after it ended').click()
  await expect.element(page.getByRole('row', { name: 'status error ok' })).toBeVisible()
})
