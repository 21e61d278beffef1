import { beforeEach, describe, expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { makeSession } from '../../test/make-session.ts'
import { openReplay } from '../../test/open-replay.tsx'
import type { DevSource, ForkJob, Job } from '../api/dev.ts'
import type { Reruns } from '../api/reruns.ts'

const steps = [
  { id: 'support', kind: 'agent', durationMs: 3_000 },
  { id: 'ask', kind: 'llm', model: 'gpt-4o', parentId: 'support', offsetMs: 10, cost: 0.002 },
  {
    id: 'extract_customer_id',
    parentId: 'support',
    offsetMs: 100,
    tool: { name: 'extract_customer_id', arguments: { text: 'charged twice' }, result: null },
  },
  {
    id: 'fetch_customer',
    parentId: 'support',
    offsetMs: 200,
    status: 'error',
    tool: { name: 'fetch_customer', arguments: { customer_id: null } },
    error: { type: 'ValueError', message: 'customer_id cannot be null' },
  },
] as const
const messages = [
  { role: 'system', parts: [{ type: 'text' as const, text: 'Be brief.' }] },
  { role: 'user', parts: [{ type: 'text' as const, text: 'I was charged twice' }] },
  { role: 'assistant', isOutput: true, parts: [{ type: 'text' as const, text: 'Sorry!' }] },
]
const session = makeSession(
  steps.map((step) => ({ ...step, hasPayload: true, ...(step.id === 'ask' && { messages }) })),
  { id: '1a2b3c4d'.padEnd(32, '0'), name: 'support', durationMs: 3_000, endState: 'fail' },
)
const { id } = session.session
const child = 'c'.repeat(32)

const dialog = page.getByRole('dialog')
const button = (name: string | RegExp) => dialog.getByRole('button', { name })

beforeEach(() => page.viewport(1440, 900))

const runner = {
  id: 'r',
  host: 'ada-laptop',
  pid: 7,
  version: '0.1.0',
  agents: ['support'],
  connectedAt: '2026-11-16T12:00:00.000Z',
}

/** A paired terminal; `jobs` are those it got, `send` reports what it does with the last one. */
function terminal(change: Partial<DevSource> = {}) {
  const jobs: ForkJob[] = []
  const cancelled: string[] = []
  let listener: ((job: Job) => void) | undefined
  const jobOf = (job: ForkJob, news: Partial<Job>): Job => ({
    jobId: job.jobId,
    sessionId: job.sessionId,
    stepId: job.stepId,
    state: 'queued',
    sessionIds: [],
    lines: [],
    ...news,
  })
  const dev: DevSource = {
    isPaired: () => true,
    read: () => Promise.resolve({ runners: [runner], jobs: [] }),
    startJob: (job) => {
      jobs.push(job)
      return Promise.resolve(jobOf(job, {}))
    },
    cancelJob: (jobId) => {
      cancelled.push(jobId)
      return Promise.resolve(jobOf(jobs.at(-1)!, {}))
    },
    watchJobs: (onJob) => {
      listener = onJob
      return { opened: Promise.resolve(), stop: () => (listener = undefined) }
    },
    ...change,
  }
  const send = (news: Partial<Job>) => listener!(jobOf(jobs.at(-1)!, news))
  return { dev, jobs, cancelled, send }
}

const nobody = { read: () => Promise.resolve({ runners: [], jobs: [] }) }

async function openDialog(stepId: string, dev: DevSource, reruns?: Reruns) {
  await openReplay(
    session,
    { dev, readReruns: () => Promise.resolve(reruns ?? { reruns: [], evidence: [] }) },
    `?step=${stepId}`,
  )
  await page.getByRole('button', { name: /Run from here/ }).click()
  await expect.element(dialog).toBeVisible()
}

describe('without a terminal', () => {
  test('shows the command for what was edited, and how to connect one', async () => {
    await openDialog('extract_customer_id', terminal({ ...nobody, isPaired: () => false }).dev)
    const endpoint = `--endpoint ${location.origin}`
    const command = dialog.getByLabelText('command', { exact: true })
    await expect.element(command).toHaveTextContent(`npx playhead fork s_1a2b3c4d --at 3 ${endpoint}`)
    await dialog.getByRole('textbox', { name: 'Result' }).fill('"c_42"')
    await dialog.getByRole('radio', { name: '5 times' }).click()
    await expect
      .element(command)
      .toHaveTextContent(`npx playhead fork s_1a2b3c4d --at 3 --result '"c_42"' --times 5 ${endpoint}`)
    await expect.element(dialog.getByText(/open the link that it prints in this browser/)).toBeVisible()
    await dialog.getByText('How the agent is started: playhead.config.ts').click()
    await expect.element(dialog.getByText(/agents: \{ support: \{ run:/)).toBeVisible()
  })

  test('a browser that was paired is told that the terminal is gone', async () => {
    await openDialog('ask', terminal(nobody).dev)
    await expect.element(dialog.getByRole('heading', { name: 'Your terminal is gone' })).toBeVisible()
  })
})

describe('editing', () => {
  test('JSON is checked, and text gets its quotes with one click', async () => {
    await openDialog('extract_customer_id', terminal().dev)
    const result = dialog.getByRole('textbox', { name: 'Result' })
    expect((result.element() as HTMLTextAreaElement).value).toBe('null')
    await result.fill('c_42')
    await expect.element(dialog.getByText(/^Text needs quotes: "c_42"\./)).toBeVisible()
    await expect.element(result).toHaveAttribute('aria-invalid', 'true')
    await expect.element(button('Run once')).toBeDisabled()
    await button('Add quotes').click()
    await expect.element(result).toHaveValue('"c_42"')
    await expect.element(button('Run once')).toBeEnabled()
    await button('Undo').click()
    await expect.element(result).toHaveValue('null')
    await expect.element(button('Run unchanged')).toBeVisible()
    await expect.element(button('Run 5 times')).toBeDisabled()
  })

  test('an action that failed for its argument leads to the step that the value came from', async () => {
    await openDialog('fetch_customer', terminal().dev)
    await expect.element(dialog.getByRole('radio', { name: 'Arguments' })).toBeChecked()
    await button('Edit it there').click()
    await expect
      .element(dialog.getByRole('heading', { name: 'Run from step 3: extract_customer_id' }))
      .toBeVisible()
  })

  test('a step that holds others begins with the first of them', async () => {
    await openDialog('support', terminal().dev)
    await expect.element(dialog.getByRole('heading', { name: 'Run from step 2: gpt-4o' })).toBeVisible()
    await expect.element(dialog.getByText('In the recording, this part cost $0.002.')).toBeVisible()
  })

  test('R opens the dialog, which keeps the focus and gives it back', async () => {
    await openReplay(session, { dev: terminal().dev }, '?step=ask')
    await expect.element(page.getByRole('button', { name: /Run from here/ })).toBeVisible()
    await userEvent.keyboard('r')
    await expect.element(dialog).toBeVisible()
    await userEvent.keyboard('{Tab}{Tab}{Tab}{Tab}{Tab}{Tab}{Tab}{Tab}{Tab}{Tab}{Tab}{Tab}')
    expect(dialog.element().contains(document.activeElement)).toBe(true)
    await userEvent.keyboard('{Escape}')
    await expect.element(dialog).not.toBeInTheDocument()
  })
})

test('one run opens beside its parent as soon as it has begun', async () => {
  const { dev, jobs, send } = terminal()
  await openDialog('ask', dev)
  await dialog.getByLabelText('System prompt').fill('Be kind.')
  await dialog.getByLabelText('Model').fill('gpt-5')
  await button('Run once').click()
  await expect.element(dialog.getByRole('status')).toHaveTextContent('Waiting for the terminal…')
  expect(jobs).toEqual([
    {
      jobId: expect.stringMatching(/^[0-9a-f]{32}$/),
      sessionId: id,
      stepId: 'ask',
      edit: { system: 'Be kind.', model: 'gpt-5' },
      times: 1,
    },
  ])
  send({ state: 'accepted' })
  await expect.element(dialog.getByRole('status')).toHaveTextContent('The terminal is starting the agent…')
  send({ state: 'started', sessionIds: [child] })
  await expect
    .element(page.getByText(/^Compare/))
    .toHaveTextContent(`Compare ${JSON.stringify({ a: id, b: child, live: 'true' })}`)
})

test('five runs are counted, and end with the evidence', async () => {
  const { dev, send } = terminal()
  const edit = { result: 'c_42' }
  const evidence = {
    stepId: 'extract_customer_id',
    edit,
    passed: 5,
    total: 5,
    control: { passed: 0, total: 5 },
    p: 2 / 252,
  }
  await openDialog('extract_customer_id', dev, { reruns: [session.session], evidence: [evidence] })
  await dialog.getByRole('textbox', { name: 'Result' }).fill('"c_42"')
  await button('Run 5 times').click()
  send({ state: 'started', sessionIds: [child] })
  await expect.element(dialog.getByRole('status')).toHaveTextContent('Running: 1 of 10 runs started.')
  send({ state: 'finished', sessionIds: [child] })
  await expect
    .element(dialog.getByText('With result "c_42" 5 of 5 pass; unchanged 0 of 5, p = 0.008'))
    .toBeVisible()
  await expect.element(dialog.getByRole('link', { name: /s_cccccccc/ })).toBeVisible()
})

test('a refusal is shown with its sentence, and the edit is still there', async () => {
  const { dev, send } = terminal()
  await openDialog('extract_customer_id', dev)
  await dialog.getByRole('textbox', { name: 'Result' }).fill('"c_42"')
  await button('Run once').click()
  await expect.element(dialog.getByRole('status')).toHaveTextContent('Waiting for the terminal…')
  send({ state: 'refused', sentence: 'playhead.config.ts has no agent "support".' })
  await expect
    .element(dialog.getByRole('status'))
    .toHaveTextContent('playhead.config.ts has no agent "support".')
  await button('Edit again').click()
  await expect.element(dialog.getByRole('textbox', { name: 'Result' })).toHaveValue('"c_42"')
})

test('a job that the server does not take says why', async () => {
  const { dev } = terminal({ startJob: () => Promise.reject(new Error('No terminal is connected.')) })
  await openDialog('ask', dev)
  await button('Run unchanged').click()
  await expect.element(dialog.getByRole('status')).toHaveTextContent('No terminal is connected.')
})

test('a run can be cancelled', async () => {
  const { dev, jobs, cancelled, send } = terminal()
  await openDialog('ask', dev)
  await dialog.getByLabelText('Message').fill('Hello')
  await button('Run 5 times').click()
  await expect.element(dialog.getByRole('status')).toHaveTextContent('Waiting for the terminal…')
  await button('Cancel the run').click()
  expect(cancelled).toEqual([jobs[0]!.jobId])
  send({ state: 'finished', sentence: 'Cancelled.' })
  await expect.element(dialog.getByRole('status')).toHaveTextContent('Cancelled.')
})

test('a run that needs a stub ends with that sentence', async () => {
  const { dev, send } = terminal()
  await openDialog('ask', dev)
  await button('Run unchanged').click()
  await expect.element(dialog.getByRole('status')).toHaveTextContent('Waiting for the terminal…')
  send({ state: 'finished', sentence: 'issue_refund needs a stub: add stubs.issue_refund to the config.' })
  await expect
    .element(dialog.getByRole('status'))
    .toHaveTextContent('issue_refund needs a stub: add stubs.issue_refund to the config.')
})

test('fits on a phone', async () => {
  await page.viewport(390, 844)
  await openReplay(session, { dev: terminal(nobody).dev }, '?step=ask')
  await page.getByRole('button', { name: /Run from here/ }).click()
  await expect.element(dialog.getByLabelText('Message')).toBeVisible()
  expect(document.documentElement.scrollWidth).toBe(390)
  const { scrollWidth, clientWidth } = dialog.element()
  expect(scrollWidth).toBe(clientWidth)
})
