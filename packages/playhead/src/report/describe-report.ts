import {
  countOf,
  formatCost,
  formatDuration,
  formatPercent,
  reportVerdicts,
  type ReportTest,
  type TestReport,
} from '@playhead/model'

const verdictWords = { fail: 'failed', inconclusive: 'inconclusive', flaky: 'flaky', pass: 'passed' } as const

/** "3 tests: 1 failed, 2 passed; 14 sessions, $0.03", or without tests "2 sessions, $0.03". */
export function describeReport({ tests, others }: TestReport): string {
  const counts = reportVerdicts
    .map(
      (verdict) => [tests.filter((test) => test.verdict === verdict).length, verdictWords[verdict]] as const,
    )
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`)
  const sessions = tests.reduce((sum, test) => sum + test.total, others.sessionCount)
  const costs = [...tests, others].map(({ cost }) => cost).filter((cost) => cost !== null)
  const cost = costs.length === 0 ? '' : `, ${formatCost(costs.reduce((sum, ofTest) => sum + ofTest, 0))}`
  const figures = `${countOf(sessions, 'session')}${cost}`
  return tests.length === 0 ? figures : `${countOf(tests.length, 'test')}: ${counts.join(', ')}; ${figures}`
}

/** "27/30 (90%, 74–97%)". */
export function describePassRate({ passed, total, interval }: ReportTest): string {
  if (total === 0) return '–'
  const range = total === 1 ? '' : `, ${Math.round(interval.low * 100)}–${formatPercent(interval.high)}`
  return `${passed}/${total} (${formatPercent(passed / total)}${range})`
}

export function describeFigures({ cost, durationMs }: ReportTest): string {
  return [cost === null ? '' : formatCost(cost), formatDuration(durationMs)]
    .filter((part) => part !== '')
    .join(' · ')
}

/** The failure message of the last failed session, or one line for each failed input. */
export function describeFailure(test: ReportTest): string {
  const failed = test.sessions.filter(({ isPassed }) => !isPassed)
  const variants = new Set(failed.map(({ variant }) => variant))
  const lines =
    test.wanted === undefined && variants.size <= 1
      ? [failed.at(-1)?.message ?? '']
      : [...variants].map((variant) => {
          const ofVariant = failed.filter((session) => session.variant === variant)
          return `${JSON.stringify(variant ?? 'no input')} (${countOf(ofVariant.length, 'run')}): ${firstLine(ofVariant[0]!.message ?? 'failed')}`
        })
  return [...(test.note === undefined ? [] : [test.note]), ...lines].join('\n')
}

export function firstLine(text: string): string {
  return text.split('\n', 1)[0]!.replace(/:$/, '')
}
