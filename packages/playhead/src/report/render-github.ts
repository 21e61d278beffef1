import { visibleText, type ReportTest, type TestReport } from '@playhead/model'
import { describeFigures, describeRate, describeReport, failureOf, titleOf } from './describe-report.ts'

const SHOWN_FAILURES = 20
const SHOWN_TESTS = 200

const marks: Record<ReportTest['verdict'], string> = {
  fail: '❌',
  inconclusive: '❔',
  flaky: '⚠️',
  pass: '✅',
}

/** The report as Markdown: what GitHub shows as the summary of a step. */
export function renderSummary(report: TestReport): string {
  const { tests } = report
  const failed = tests.filter(({ verdict }) => verdict !== 'pass' && verdict !== 'flaky')
  const rows = tests
    .slice(0, SHOWN_TESTS)
    .map(
      (test) =>
        `| ${marks[test.verdict]} ${test.verdict} | ${escapeCell(titleOf(test))} | ${describeRate(test)} | ${describeFigures(test)} |`,
    )
  const more = tests.length > SHOWN_TESTS ? [`\n… ${tests.length - SHOWN_TESTS} more.`] : []
  return [
    `## Agent tests\n\n${describeReport(report)}\n`,
    ...failed.slice(0, SHOWN_FAILURES).map(renderFailure),
    '| | test | pass rate | |',
    '|---|---|---|---|',
    ...rows,
    ...more,
    '',
    '',
  ].join('\n')
}

function renderFailure(test: ReportTest): string {
  const links = test.sessions
    .filter(({ isPassed, url }) => !isPassed && url !== undefined && /^https?:/.test(url))
    .slice(0, 5)
    .map(({ url, variant, stepId }) => {
      const address = `${url}${stepId === undefined ? '' : `?step=${stepId}`}`
      return `[${escapeCell(variant ?? 'replay')}](${address})`
    })
  const text = failureOf(test).replaceAll('```', "'''")
  const replays = links.length === 0 ? '' : `\n\nReplay: ${links.join(', ')}`
  return `<details open><summary>${marks[test.verdict]} ${escapeHtml(visibleText(titleOf(test)).replaceAll('`', ''))}</summary>\n\n\`\`\`\n${text}\n\`\`\`${replays}\n\n</details>\n`
}

/** Nothing in a name can end the cell, or be read as markup. */
export function escapeCell(text: string): string {
  return escapeHtml(visibleText(text)).replaceAll(/[\\|[\]*_`~]/g, String.raw`\$&`)
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

const SHOWN = 10

/** Lines that GitHub shows beside the files of a pull request. */
export function renderAnnotations({ tests }: TestReport): string[] {
  return tests
    .filter(({ verdict }) => verdict === 'fail' || verdict === 'inconclusive')
    .slice(0, SHOWN)
    .map((test) => {
      const level = test.verdict === 'fail' ? 'error' : 'warning'
      const file = test.file === undefined ? '' : `file=${escapeProperty(test.file)},`
      return `::${level} ${file}title=${escapeProperty(titleOf(test))}::${escapeData(failureOf(test))}`
    })
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
