import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { page } from 'vitest/browser'
import { readCassette } from '@playhead/model'
import { makeSession } from '../../test/make-session.ts'
import { openReplay } from '../../test/open-replay.tsx'

/** Longer than a line of the dialog. */
const MORE = `\n${'and again '.repeat(20)}`

const steps = (customerId: string | null) =>
  [
    { id: 'support', kind: 'agent', input: `I was charged twice${MORE}`, durationMs: 30 },
    {
      id: 'fetch',
      parentId: 'support',
      offsetMs: 10,
      effect: 'read',
      tool: { name: 'fetch', arguments: { id: customerId }, result: { plan: 'Pro' } },
    },
    {
      id: 'refund',
      parentId: 'support',
      offsetMs: 20,
      effect: 'write',
      tool: { name: 'refund', arguments: { amount: 5 }, result: 'ok' },
    },
  ] as const
const whole = (customerId: string | null, summary: object) =>
  makeSession(
    steps(customerId).map((step) => ({ ...step, hasPayload: true })),
    { name: 'support', inputPreview: 'I was charged twice', ...summary },
  )
const failed = whole(null, { id: 'a'.repeat(32), endState: 'fail' })
const passed = whole('c_42', { id: 'b'.repeat(32), endState: 'success' })

beforeEach(() => page.viewport(1440, 900))

/** Collects what links would save instead of saving it. */
function catchDownloads(): Promise<{ name: string; text: string }>[] {
  const saved: Promise<{ name: string; text: string }>[] = []
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function catchClick(
    this: HTMLAnchorElement,
  ) {
    const name = this.download
    saved.push(
      fetch(this.href)
        .then((response) => response.text())
        .then((text) => ({ name, text })),
    )
  })
  onTestFinished(() => void vi.restoreAllMocks())
  return saved
}

async function openDownload(source: Parameters<typeof openReplay>[1]) {
  await openReplay(failed, source)
  await page.getByRole('button', { name: 'Export' }).click()
  await page.getByRole('menuitem', { name: /Download as a test/ }).click()
}

test('a failed session becomes a test and a cassette, joined with one that passed', async () => {
  const saved = catchDownloads()
  await openDownload({
    listSessions: () => Promise.resolve([passed.session]),
    readReruns: () => Promise.resolve({ reruns: [], evidence: [] }),
    readPayloads: (id) => Promise.resolve(id === failed.session.id ? failed : passed),
  })
  const dialog = page.getByRole('dialog')
  await expect
    .element(dialog.getByText(/^What should happen is from s_bbbbbbbb, which passed with the same input/))
    .toBeVisible()
  await expect.element(dialog.getByText('test/i-was-charged-twice.test.ts', { exact: true })).toBeVisible()
  await dialog.getByRole('button', { name: 'Test', exact: true }).click()
  await dialog.getByRole('button', { name: 'Cassette', exact: true }).click()
  const [written, cassette] = await Promise.all(saved)
  expect(written).toEqual({
    name: 'i-was-charged-twice.test.ts',
    text: dialog.getByLabelText('test', { exact: true }).element().textContent,
  })
  expect(written!.text).toContain("await runAgent('support', ")
  expect(cassette!.name).toBe('support-I-was-charged-twice.jsonl')
  expect(readCassette(cassette!.text).meta.sessions).toEqual([failed.session.id, passed.session.id])
  const { scrollWidth, clientWidth } = dialog.element()
  expect(scrollWidth).toBe(clientWidth)
  await dialog.getByRole('radio', { name: 'pytest' }).click()
  await expect.element(dialog.getByText('tests/test_i_was_charged_twice.py', { exact: true })).toBeVisible()
})

test('without a session that passed it says what the test can show', async () => {
  await openDownload({
    listSessions: () => Promise.resolve([]),
    readReruns: () => Promise.resolve({ reruns: [], evidence: [] }),
    readPayloads: () => Promise.resolve(failed),
  })
  await expect
    .element(page.getByRole('dialog').getByText(/^No session of this input has passed yet/))
    .toBeVisible()
})
