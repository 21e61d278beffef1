import type { ReportTest, TestReport } from '@playhead/model'
import { describeRate, failureOf, firstLine, titleOf } from './describe-report.ts'

/** The report for CI servers: a suite a file, a case a test. */
export function renderJunit({ tests, madeAt }: TestReport): string {
  const files = [...Map.groupBy(tests, ({ file }) => file ?? 'tests')]
  const suites = files.map(([file, ofFile]) => renderSuite(file, ofFile, madeAt))
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="playhead" ${countsOf(tests)} errors="0" time="${secondsOf(tests)}">
${suites.join('\n')}
</testsuites>
`
}

function renderSuite(file: string, tests: readonly ReportTest[], madeAt: string): string {
  const cases = tests.map((test) => renderCase(file, test))
  return `  <testsuite name="${escapeXml(file)}" timestamp="${madeAt.slice(0, 19)}" hostname="playhead" ${countsOf(tests)} errors="0" skipped="0" time="${secondsOf(tests)}">
${cases.join('\n')}
  </testsuite>`
}

function renderCase(file: string, test: ReportTest): string {
  const head = `    <testcase classname="${escapeXml(file)}" name="${escapeXml(titleOf(test))}" time="${secondsOf([test])}"`
  const out = [
    `pass rate ${describeRate(test)}, ${test.verdict}`,
    ...(test.cost === null ? [] : [`cost ${test.cost} USD`]),
    ...test.sessions.filter(({ isPassed }) => !isPassed).map(({ id, url }) => url ?? id),
  ].join('\n')
  const output = `      <system-out>${escapeXml(out)}</system-out>`
  if (!isFailure(test)) return `${head}>\n${output}\n    </testcase>`
  const text = failureOf(test)
  const failure = `      <failure message="${escapeXml(firstLine(text))}" type="${test.verdict}">${escapeXml(text)}</failure>`
  return `${head}>\n${failure}\n${output}\n    </testcase>`
}

/** What nobody can say is no failure for CI servers, which know no third way; its output says so. */
function isFailure({ verdict }: ReportTest): boolean {
  return verdict === 'fail'
}

function countsOf(tests: readonly ReportTest[]): string {
  return `tests="${tests.length}" failures="${tests.filter(isFailure).length}"`
}

function secondsOf(tests: readonly ReportTest[]): string {
  return (tests.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000).toFixed(3)
}

// oxlint-disable-next-line no-control-regex
const forbidden = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g

/** Characters that XML can't hold at all are left out. */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(forbidden, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
