import {
  countOf,
  formatCost,
  formatDuration,
  reportVerdicts,
  type ReportTest,
  type TestReport,
} from '@playhead/model'

/** "suite > name", as runners print it. */
export function titleOf({ suite, name }: Pick<ReportTest, 'suite' | 'name'>): string {
  return suite === undefined ? name : `${suite} > ${name}`
}

const words = { fail: 'failed', inconclusive: 'inconclusive', flaky: 'flaky', pass: 'passed' } as const

/** "3 tests: 1 failed, 2 passed; 14 sessions, $0.03". */
export function describeReport({ tests }: TestReport): string {
  const counts = reportVerdicts
    .map((verdict) => [tests.filter((test) => test.verdict === verdict).length, words[verdict]] as const)
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`)
  const sessions = tests.reduce((sum, test) => sum + test.total, 0)
  const cost = costOf(tests)
  const money = cost === null ? '' : `, ${formatCost(cost)}`
  return `${countOf(tests.length, 'test')}: ${counts.join(', ') || 'none'}; ${countOf(sessions, 'session')}${money}`
}

export function costOf(tests: readonly ReportTest[]): number | null {
  const known = tests.map(({ cost }) => cost).filter((cost) => cost !== null)
  return known.length === 0 ? null : known.reduce((sum, cost) => sum + cost, 0)
}

/** "27/30 (90%, 74–97%)". */
export function describeRate({ passed, total, interval }: ReportTest): string {
  const percent = (share: number) => Math.round(share * 100)
  if (total === 0) return '–'
  const range = total === 1 ? '' : `, ${percent(interval.low)}–${percent(interval.high)}%`
  return `${passed}/${total} (${percent(passed / total)}%${range})`
}

export function describeFigures({ cost, durationMs }: ReportTest): string {
  return [cost === null ? '' : formatCost(cost), formatDuration(durationMs)]
    .filter((part) => part !== '')
    .join(' · ')
}

/** Why a test failed, in the words of its first failed session. */
export function failureOf(test: ReportTest): string {
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
