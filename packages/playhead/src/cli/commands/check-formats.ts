import { shortSessionId, visibleText } from '@playhead/model'
import { escapeCell, renderAnnotation } from '../../report/render-github.ts'
import { renderJunit } from '../../report/render-junit.ts'
import { printableJson } from '../terminal/printable-text.ts'
import type { Painter } from '../terminal/terminal.ts'
import type { CheckResult, CheckRow } from './check-limits.ts'

export const checkFormats = ['text', 'json', 'junit', 'markdown', 'github']

const marks: Record<CheckRow['state'], string> = { kept: '✓', broken: '✗', 'too-few': '?' }
const colours = { kept: 'green', broken: 'red', 'too-few': 'yellow' } as const
const levels = { kept: 'notice', broken: 'error', 'too-few': 'warning' } as const
const verdicts = { pass: '✅ passed', fail: '❌ failed', 'too-few': '❔ not enough sessions' }
const MAX_FAILURES = 10
const MAX_FAILURES_IN_JSON = 100
const REASON_WIDTH = 140

export function renderCheck(result: CheckResult, format: string, paint: Painter): string {
  switch (format) {
    case 'json':
      return renderJson(result)
    case 'junit':
      return renderJunit('playhead check', [toJunitSuite(result)], new Date().toISOString()).trimEnd()
    case 'markdown':
      return renderMarkdown(result).trimEnd()
    case 'github':
      return renderGithub(result)
    default:
      return renderText(result, paint)
  }
}

function failedSessions({ sessions }: CheckResult, limit: number) {
  return sessions.filter(({ endState }) => endState === 'fail').slice(0, limit)
}

function renderText(result: CheckResult, paint: Painter): string {
  const rows = result.rows.map(
    ({ name, state, text }) => `${paint(colours[state], `${marks[state]} ${name}`)}: ${text}`,
  )
  const failed = result.verdict === 'fail' ? failedSessions(result, MAX_FAILURES) : []
  const links = failed.map(({ id, name, endStateReason = '', url }) => {
    const line = visibleText(`${shortSessionId(id)} ${name}: ${endStateReason.split('\n', 1)[0]}`)
    return `  ${line.slice(0, REASON_WIDTH)}\n    ${url ?? ''}`
  })
  return [...rows, ...(links.length === 0 ? [] : ['', 'Recent failures:', ...links])].join('\n')
}

function renderJson(result: CheckResult): string {
  return printableJson({
    verdict: result.verdict,
    conditions: result.rows,
    sessionCount: result.sessions.length,
    failed: failedSessions(result, MAX_FAILURES_IN_JSON).map(({ id, name, url, endStateReason }) => ({
      id,
      name,
      url,
      endStateReason,
    })),
  })
}

function toJunitSuite({ rows }: CheckResult) {
  const cases = rows.map(({ name, state, text }) => ({
    name,
    seconds: 0,
    ...(state === 'broken' && { failure: { type: 'condition', text } }),
    ...(state === 'too-few' && { skipped: text }),
    ...(state === 'kept' && { output: text }),
  }))
  return { name: 'playhead check', cases }
}

export function renderMarkdown(result: CheckResult): string {
  const rows = result.rows.map(
    ({ name, state, text }) => `| ${marks[state]} | ${escapeCell(name)} | ${escapeCell(text)} |`,
  )
  const failed = failedSessions(result, MAX_FAILURES).map(({ id, name, url, endStateReason = '' }) => {
    const reason = escapeCell(endStateReason.split('\n', 1)[0]!.slice(0, REASON_WIDTH))
    const title = `${shortSessionId(id)} ${escapeCell(name)}`
    return `- ${url === undefined ? title : `[${title}](${url})`}: ${reason}`
  })
  return [
    `## Sessions: ${verdicts[result.verdict]}\n`,
    '| | condition | |',
    '|---|---|---|',
    ...rows,
    '',
    ...(failed.length === 0 ? [] : ['Recent failures:', '', ...failed, '']),
    '',
  ].join('\n')
}

function renderGithub({ rows }: CheckResult): string {
  return rows
    .map(({ name, state, text }) =>
      renderAnnotation(levels[state], `${name}: ${text}`, { title: `playhead check: ${name}` }),
    )
    .join('\n')
}
