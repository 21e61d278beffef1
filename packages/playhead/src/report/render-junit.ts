import { safeForLog, testTitle, type ReportTest, type TestReport } from '@playhead/model'
import { describeFailure, describePassRate, firstLine } from './describe-report.ts'

export type JunitSuite = { name: string; cases: readonly JunitCase[] }

export type JunitCase = {
  name: string
  seconds: number
  failure?: { type: string; text: string }
  skipped?: string
  output?: string
}

/** Renders a test report as JUnit XML, with one suite per test file. */
export function renderReportJunit({ tests, madeAt }: TestReport): string {
  const files = [...Map.groupBy(tests, ({ file }) => file ?? 'tests')]
  const suites = files.map(([name, ofFile]) => ({ name, cases: ofFile.map(toCase) }))
  return renderJunit('playhead', suites, madeAt)
}

/** JUnit has no third verdict: an inconclusive test counts as passed if the runner let it pass, and its output says so. */
function toCase(test: ReportTest): JunitCase {
  const { verdict, cost, sessions, durationMs } = test
  const output = [
    `pass rate ${describePassRate(test)}, ${verdict}`,
    ...(cost === null ? [] : [`cost ${cost} USD`]),
    ...sessions.filter(({ isPassed }) => !isPassed).map(({ id, url }) => url ?? id),
  ]
  return {
    name: testTitle(test),
    seconds: durationMs / 1000,
    ...(verdict === 'fail' && { failure: { type: verdict, text: describeFailure(test) } }),
    output: output.join('\n'),
  }
}

export function renderJunit(name: string, suites: readonly JunitSuite[], madeAt: string): string {
  const all = suites.flatMap(({ cases }) => cases)
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="${name}" ${countsOf(all)}>
${suites.map((suite) => renderSuite(suite, madeAt)).join('\n')}
</testsuites>
`
}

function renderSuite({ name, cases }: JunitSuite, madeAt: string): string {
  const skipped = cases.filter((one) => one.skipped !== undefined).length
  return `  <testsuite name="${escapeXml(name)}" timestamp="${madeAt.slice(0, 19)}" hostname="playhead" ${countsOf(cases)} skipped="${skipped}">
${cases.map((one) => renderCase(name, one)).join('\n')}
  </testsuite>`
}

function renderCase(suite: string, { name, seconds, failure, skipped, output }: JunitCase): string {
  const lines = [
    `    <testcase classname="${escapeXml(suite)}" name="${escapeXml(name)}" time="${seconds.toFixed(3)}">`,
    ...(failure === undefined
      ? []
      : [
          `      <failure message="${escapeXml(firstLine(failure.text))}" type="${failure.type}">${escapeXml(failure.text)}</failure>`,
        ]),
    ...(skipped === undefined ? [] : [`      <skipped message="${escapeXml(skipped)}"/>`]),
    ...(output === undefined ? [] : [`      <system-out>${escapeXml(output)}</system-out>`]),
    '    </testcase>',
  ]
  return lines.join('\n')
}

function countsOf(cases: readonly JunitCase[]): string {
  const failures = cases.filter(({ failure }) => failure !== undefined).length
  const seconds = cases.reduce((sum, one) => sum + one.seconds, 0)
  return `tests="${cases.length}" failures="${failures}" errors="0" time="${seconds.toFixed(3)}"`
}

function escapeXml(text: string): string {
  return safeForLog(text)
    .replaceAll(/[\uFFFE\uFFFF]/g, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
