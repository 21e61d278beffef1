import { beforeEach, expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { agentRun, does, fails, says } from '../../../../model/test/agent-run.ts'
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
