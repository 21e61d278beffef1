import { beforeEach, describe, expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { agentRun, does, fails, says } from '../../../../model/test/agent-run.ts'
import { makeSession } from '../../../test/make-session.ts'
import { openReplay } from '../../../test/open-replay.tsx'

const search = [says('', { search: { q: 'x' } }), does('search', { q: 'x' }, [])]
const loop = [...search, ...search, ...search, ...search]
const panel = page.getByRole('region', { name: 'What went wrong' })
const selected = () => page.getByRole('treeitem', { selected: true }).element().textContent

beforeEach(() => page.viewport(1440, 900))

test('names the suspect, with links to its steps and values, and marks it on the timeline', async () => {
  await openReplay(agentRun(loop, { endState: 'fail' }))
  await expect
    .poll(() => panel.element().textContent)
    .toMatch(/What went wrong1 suspect.*search was called 4 times .* it began at step 2\./)
  await panel.getByRole('button', { name: 'step 2', exact: true }).click()
  expect(selected()).toContain('search')
  await page.getByTitle(/^Suspect 1: search was called/).click()
  const suspected = selected()
  await userEvent.keyboard('{Home}w')
  expect(selected()).toBe(suspected)
  await panel.getByRole('button', { name: /^What went wrong/ }).click()
  await expect.element(panel.getByText(/it began at/)).not.toBeInTheDocument()
})

test('a link to a value scrolls to it and marks it', async () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`field_${index}`, `v${index}`]))
  const run = agentRun(
    [
      says('', { fetch_customer: { ...many, customer_id: null } }),
      fails('fetch_customer', { ...many, customer_id: null }, 'customer_id cannot be null'),
    ],
    { endState: 'fail' },
  )
  await openReplay(run)
  await panel.getByRole('button', { name: /arguments\.customer_id null/ }).click()
  const marked = () => document.querySelector<HTMLElement>('[data-shown]')
  await expect.poll(() => marked()?.textContent).toContain('customer_id')
  await expect
    .poll(() => {
      const { top, bottom } = marked()!.getBoundingClientRect()
      const around = marked()!.closest('.tab-panel')!.getBoundingClientRect()
      return top >= around.top && bottom <= around.bottom
    })
    .toBe(true)
  const [range] = CSS.highlights.get('shown-value')!
  expect((range as Range).toString()).toBe('null')
  await userEvent.keyboard('{Home}')
  await expect.poll(marked).toBeNull()
})

test('offers to verify the first suspect and to make a test', async () => {
  await openReplay(agentRun(loop, { endState: 'fail' }), {
    listSessions: () => Promise.resolve([]),
    readReruns: () => Promise.resolve({ reruns: [], evidence: [] }),
  })
  await panel.getByRole('button', { name: 'Verify' }).click()
  await expect.element(page.getByRole('dialog', { name: /^Run from step \d: / })).toBeVisible()
  await userEvent.keyboard('{Escape}')
  await panel.getByRole('button', { name: 'Make a test' }).click()
  await expect.element(page.getByRole('dialog', { name: 'Download as a test' })).toBeVisible()
})

test('says nothing about a session that is fine, and about one that runs', async () => {
  for (const run of [agentRun(search), agentRun(loop, { endState: 'running' })]) {
    const { unmount } = await openReplay(run)
    await expect.element(page.getByRole('tree')).toBeVisible()
    expect(panel.elements()).toEqual([])
    await unmount()
  }
})

/** The rows that are not cut off. */
function wholeRows(): Element[] {
  const { top, bottom } = document.querySelector('.step-list-scroller')!.getBoundingClientRect()
  return [...document.querySelectorAll('.step-row')].filter((row) => {
    const place = row.getBoundingClientRect()
    return place.top >= top && place.bottom <= bottom
  })
}

describe('on a phone', () => {
  beforeEach(() => page.viewport(390, 844))

  test('the first suspect takes two lines, and the steps have the room', async () => {
    await openReplay(agentRun([...loop, ...loop], { endState: 'fail' }), {
      addScore: () => Promise.reject(new Error('not asked')),
    })
    await page.getByRole('radio', { name: /^Steps/ }).click()
    await expect.element(panel).toBeVisible()
    expect(panel.element().clientHeight).toBeLessThan(60)
    expect(wholeRows().length).toBeGreaterThanOrEqual(8)

    await panel.getByRole('button', { name: /What went wrong, 1 suspect/ }).click()
    await expect.element(panel.getByRole('button', { name: 'step 2', exact: true })).toBeVisible()
    await panel.getByRole('button', { name: /^What went wrong/ }).click()
    expect(panel.element().clientHeight).toBeLessThan(60)
    await userEvent.keyboard('{Home}')
    const first = selected()
    await panel.getByRole('button', { name: /^Suspect 1/ }).click()
    expect(selected()).not.toBe(first)
  })

  test.each([10, 100_000])('the controls of %s steps stand in two lines', async (count) => {
    const failing = makeSession(
      Array.from({ length: count }, (_, index) => ({
        id: `${index}`,
        offsetMs: index * 3_000,
        ...(index === count - 2 && { status: 'error' as const, error: { type: 'E', message: 'no' } }),
      })),
      { durationMs: count * 3_000 },
    )
    await openReplay(failing, { addScore: () => Promise.reject(new Error('not asked')) })
    await expect.element(page.getByRole('button', { name: /error/ })).toBeVisible()
    const controls = [...document.querySelectorAll('.transport > *')].filter(
      (control) => control.clientWidth > 0 && !control.matches('.transport-space'),
    )
    const middles = controls.map((control) => {
      const { top, height } = control.getBoundingClientRect()
      return Math.round((top + height / 2) / 12)
    })
    expect(new Set(middles).size).toBe(2)
    const playback = document.querySelector('.transport-moves')!.getBoundingClientRect()
    const error = document.querySelector('.transport-error')!.getBoundingClientRect()
    expect(error.top).toBeLessThan(playback.bottom)
  })

  test('the header shows the rest when somebody asks for it', async () => {
    await openReplay(
      makeSession([{ id: 'a' }], {
        tags: ['support'],
        userId: 'ada@example.com',
        endStateReason: 'all good',
      }),
    )
    const details = page.getByRole('button', { name: 'Details' })
    for (const text of ['support', 'ada@example.com', 'all good'])
      await expect.element(page.getByText(text)).not.toBeVisible()
    await details.click()
    for (const text of ['support', 'ada@example.com', 'all good'])
      await expect.element(page.getByText(text)).toBeVisible()
    await expect.element(details).toHaveAttribute('aria-expanded', 'true')
  })
})
