import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import type { ReportSession, TestReport } from '@playhead/model'
import { ReportIndex } from './test-report.tsx'
import '../ui/browser/theme.css'

const url = `https://example.com/${'a-very-long-segment/'.repeat(12)}?token=${'0123456789abcdef'.repeat(10)}`
const session = (parts: Partial<ReportSession>): ReportSession => ({
  id: 'a'.repeat(32),
  isPassed: false,
  isKept: true,
  attempt: 1,
  cost: null,
  durationMs: 20,
  ...parts,
})
const figures = {
  verdict: 'fail',
  passed: 0,
  total: 2,
  interval: { low: 0, high: 0.66 },
  cost: 0.02,
  durationMs: 40,
} as const
const report: TestReport = {
  madeAt: '2026-11-16T12:00:00.000Z',
  branch: `feature/${'long-branch-name-'.repeat(12)}`,
  others: { sessionCount: 0, cost: null },
  tests: [
    {
      ...figures,
      file: `packages/${'deeply/nested/'.repeat(12)}refund.test.ts`,
      suite: 'refunds',
      name: `answers ${url} ${'withoutAnySpaces'.repeat(20)}`,
      note: `Inconclusive: ${url}`,
      sessions: [
        session({ variant: `Where is ${url}?`, message: `Error: could not load ${url}\n  at ${url}:3:4` }),
        session({ id: 'b'.repeat(32), variant: 'short', message: 'x'.repeat(900) }),
      ],
    },
  ],
}

test.each([
  [390, 844],
  [1440, 900],
])('long names, errors and URLs wrap at %i × %i', async (width, height) => {
  await page.viewport(width, height)
  await render(<ReportIndex report={report} />)
  await expect.element(page.getByRole('heading', { level: 1 })).toBeVisible()

  const wide = [...document.querySelectorAll('.report, .report :not(.visually-hidden)')].filter(
    (element) =>
      element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== 'inline',
  )
  expect(wide.map(({ tagName, className }) => `${tagName}.${className}`)).toEqual([])
  expect(document.documentElement.scrollWidth).toBe(width)
  const [failure] = page.getByRole('region', { name: /Why it failed/ }).elements()
  expect(failure!.textContent).toContain(url)
})
