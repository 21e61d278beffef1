import { safeForLog, testTitle, visibleText, type ReportTest, type TestReport } from '@playhead/model'
import { stepUrl } from '../testing/sessions/replay-link.ts'
import { describeFailure, describeFigures, describePassRate, describeReport } from './describe-report.ts'

const MAX_FAILURES = 20
const MAX_TESTS = 200
const MAX_LINKS = 5
const MAX_ANNOTATIONS = 10

const marks: Record<ReportTest['verdict'], string> = {
  fail: '❌',
  inconclusive: '❔',
  flaky: '⚠️',
  pass: '✅',
}

/** Renders a test report as Markdown for the step summary of GitHub Actions. */
export function renderSummary(report: TestReport): string {
  const { tests } = report
  const rows = tests
    .slice(0, MAX_TESTS)
    .map(
      (test) =>
        `| ${marks[test.verdict]} ${test.verdict} | ${escapeCell(testTitle(test))} | ${describePassRate(test)} | ${describeFigures(test)} |`,
    )
  const more = tests.length > MAX_TESTS ? [`\n… and ${tests.length - MAX_TESTS} more.`] : []
  const lines = [
    `## Agent tests\n\n${describeReport(report)}\n`,
    ...tests.filter(needsAttention).slice(0, MAX_FAILURES).map(renderFailure),
    '| | test | pass rate | |',
    '|---|---|---|---|',
    ...rows,
    ...more,
    '',
    '',
  ]
  return safeForLog(lines.join('\n'))
}

function needsAttention({ verdict }: ReportTest): boolean {
  return verdict === 'fail' || verdict === 'inconclusive'
}

function renderFailure(test: ReportTest): string {
  const links = test.sessions
    .filter(({ isPassed, url }) => !isPassed && url !== undefined && /^https?:/.test(url))
    .slice(0, MAX_LINKS)
    .map(({ url, variant, stepId }) => `[${escapeCell(variant ?? 'replay')}](${stepUrl(url!, stepId)})`)
  const text = describeFailure(test).replaceAll('```', "'''")
  const replays = links.length === 0 ? '' : `\n\nReplay: ${links.join(', ')}`
  return `<details open><summary>${marks[test.verdict]} ${escapeHtml(visibleText(testTitle(test)).replaceAll('`', ''))}</summary>\n\n\`\`\`\n${text}\n\`\`\`${replays}\n\n</details>\n`
}

/** Escapes text so that it can't end a table cell or become markup. */
export function escapeCell(text: string): string {
  return escapeHtml(visibleText(text)).replaceAll(/[\\|[\]*_`~]/g, String.raw`\$&`)
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Renders the failed tests as annotations, which GitHub shows beside the files of a pull request. */
export function renderAnnotations({ tests }: TestReport): string[] {
  return tests
    .filter(needsAttention)
    .slice(0, MAX_ANNOTATIONS)
    .map((test) =>
      renderAnnotation(test.verdict === 'fail' ? 'error' : 'warning', describeFailure(test), {
        ...placeOf(test),
        title: testTitle(test),
      }),
    )
}

function placeOf({ location, file }: ReportTest): { file?: string; line?: number } {
  if (location !== undefined) return { file: location.path, line: location.line }
  return file === undefined ? {} : { file }
}

/** A workflow command of GitHub Actions. */
export function renderAnnotation(
  level: 'error' | 'warning' | 'notice',
  message: string,
  properties: { file?: string; line?: number; title: string },
): string {
  const pairs = Object.entries(properties).map(
    ([name, value]) => `${name}=${escapeData(String(value)).replaceAll(':', '%3A').replaceAll(',', '%2C')}`,
  )
  return `::${level} ${pairs.join(',')}::${escapeData(message)}`
}

function escapeData(text: string): string {
  return safeForLog(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}
