import { beforeEach, expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { makeSession } from '../../../test/make-session.ts'
import { openReplay } from '../../../test/open-replay.tsx'

const parentId = 'a'.repeat(32)
const steps = [
  { id: 'support', kind: 'agent', durationMs: 3_000 },
  { id: 'classify', parentId: 'support', offsetMs: 10, source: 'tape' },
  { id: 'extract', parentId: 'support', offsetMs: 900, durationMs: 30, source: 'tape' },
  { id: 'issue_refund', parentId: 'support', offsetMs: 2_000, source: 'stub' },
  { id: 'reply', parentId: 'support', offsetMs: 2_500, source: 'live' },
] as const
const row = (name: string) => page.getByRole('treeitem', { name: new RegExp(`\\b${name}\\b`) })

beforeEach(() => page.viewport(1440, 900))

test('a fork names its parent, its step and its edit, and shows where the tape ended', async () => {
  const fork = makeSession(steps, {
    durationMs: 3_000,
    parentId,
    parentStepId: 'extract',
    lane: 'fork',
    edit: { result: 'c_42' },
  })
  await openReplay(fork)
  const note = page.getByRole('note', { name: 'Re-run' })
  await expect
    .element(note)
    .toHaveTextContent(
      'Fork of s_aaaaaaaa at extractfrom the tape up to there, then livewith result "c_42"Compare with the original',
    )
  expect(
    note
      .getByRole('link', { name: /s_aaaaaaaa/ })
      .element()
      .getAttribute('href'),
  ).toBe(`/sessions/${parentId}?step=extract`)
  expect(note.getByRole('link', { name: 'Compare with the original' }).element().getAttribute('href')).toBe(
    `/compare?a=${parentId}&b=${fork.session.id}`,
  )
  await expect.element(row('classify').getByText('tape')).toBeVisible()
  await expect.element(row('issue_refund').getByText('stubbed')).toBeVisible()
  await expect.element(row('reply').getByText('live')).toBeVisible()
  expect(document.querySelectorAll('.step-row.is-tape-end')).toHaveLength(1)
  expect(row('issue_refund').element().className).toContain('is-tape-end')
  expect(row('extract').element().querySelector('.step-row-bar.is-taped')).not.toBe(null)
  await expect.element(page.getByText('tape ends')).toBeVisible()
  await row('issue_refund').click()
  await expect
    .element(page.getByRole('region', { name: 'Step', exact: true }).getByText('stubbed, not executed'))
    .toBeVisible()
})

test('a re-run from the tape says what it does not prove', async () => {
  await openReplay(makeSession(steps.slice(0, 3), { parentId, lane: 'tape' }))
  await expect
    .element(page.getByRole('note', { name: 'Re-run' }))
    .toHaveTextContent(
      'Re-run of s_aaaaaaaamodel and tools from the tapeCompare with the originalA matching re-run proves nothing about the model.',
    )
  expect(page.getByText('tape ends').elements()).toEqual([])
})

const evidence = [
  {
    stepId: 'extract',
    edit: { result: 'c_42' },
    passed: 5,
    total: 5,
    control: { passed: 0, total: 5 },
    p: 2 / 252,
  },
]

test('a fork shows what it proves together with its siblings', async () => {
  const forkWith = (edit: { result: string } | undefined) =>
    makeSession(steps, { parentId, parentStepId: 'extract', lane: 'fork', ...(edit && { edit }) })
  const readReruns = (id: string) =>
    Promise.resolve({ reruns: [], evidence: id === parentId ? evidence : [] })
  const proof = page.getByText('With result "c_42" 5 of 5 pass; unchanged 0 of 5, p = 0.008')
  for (const edit of [{ result: 'c_42' }, undefined]) {
    const screen = await openReplay(forkWith(edit), { readReruns })
    await expect.element(proof).toBeVisible()
    await screen.unmount()
  }
  await openReplay(forkWith({ result: 'c_15' }), { readReruns })
  await expect.element(page.getByText('with result "c_15"')).toBeVisible()
  expect(proof.elements()).toEqual([])
})

test('a session shows its re-runs and what they prove', async () => {
  const session = makeSession(steps)
  const reruns = Array.from({ length: 10 }, () => session.session)
  await openReplay(session, { readReruns: () => Promise.resolve({ reruns, evidence }) })
  const note = page.getByRole('note', { name: 'Re-runs of this session' })
  await expect
    .element(note)
    .toHaveTextContent('10 re-runsWith result "c_42" 5 of 5 pass; unchanged 0 of 5, p = 0.008at step 3')
  await note.getByRole('button', { name: 'at step 3' }).click()
  await expect.element(row('extract')).toHaveAttribute('aria-selected', 'true')
})

test('a session says whether it can be re-run, and why not', async () => {
  const session = makeSession(steps)
  const sentence = 'extract: its answer was too large to be recorded whole'
  const gaps = [{ code: 'answer-cut' as const, stepId: 'extract', sentence }]
  const screen = await openReplay(session, {
    readSession: () => Promise.resolve({ ...session, tapeGaps: gaps }),
  })
  await page.getByRole('button', { name: 'Can’t be re-run' }).click()
  await expect
    .element(page.getByRole('dialog', { name: "Why it can't be re-run" }))
    .toHaveTextContent(`1 answer can’t be taken from the tape:${sentence}Show`)
  await page.getByRole('button', { name: 'Show' }).click()
  await expect.element(row('extract')).toHaveAttribute('aria-selected', 'true')
  await screen.unmount()

  await openReplay(session, { readSession: () => Promise.resolve({ ...session, tapeGaps: [] }) })
  await page.getByRole('button', { name: 'Can be re-run' }).click()
  await expect.element(page.getByText(/^npx playhead rerun s_/)).toBeVisible()
})
