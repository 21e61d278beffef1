import { shortSessionId, visibleText } from '@playhead/model'
import { escapeXml } from '../../report/render-junit.ts'
import { escapeCell } from '../../report/render-github.ts'
import type { CheckResult, CheckRow } from './check-limits.ts'
import { printableJson } from '../terminal/printable-text.ts'
import type { Painter } from '../terminal/terminal.ts'

export const checkFormats = ['text', 'json', 'junit', 'markdown', 'github']

const marks: Record<CheckRow['state'], string> = { kept: '✓', broken: '✗', 'too-few': '?' }
const colours = { kept: 'green', broken: 'red', 'too-few': 'yellow' } as const
const SHOWN_SESSIONS = 10

export function renderCheck(result: CheckResult, format: string, paint: Painter): string {
  switch (format) {
    case 'json':
      return renderJson(result)
    case 'junit':
      return renderJunit(result)
    case 'markdown':
      return renderMarkdown(result).trimEnd()
    case 'github':
      return renderGithub(result)
    default:
      return renderText(result, paint)
  }
}

function failedSessions({ sessions }: CheckResult) {
  return sessions.filter(({ endState }) => endState === 'fail')
}

function renderText(result: CheckResult, paint: Painter): string {
  const rows = result.rows.map(
    ({ name, state, text }) => `${paint(colours[state], `${marks[state]} ${name}`)}: ${text}`,
  )
  const failed = result.verdict === 'fail' ? failedSessions(result).slice(0, SHOWN_SESSIONS) : []
  const links = failed.map(
    ({ id, name, endStateReason = '', url }) =>
      `  ${visibleText(`${shortSessionId(id)} ${name}: ${endStateReason.split('\n', 1)[0]}`).slice(0, 140)}\n    ${url ?? ''}`,
  )
  return [...rows, ...(links.length === 0 ? [] : ['', 'Failed lately:', ...links])].join('\n')
}

function renderJson({ rows, sessions, verdict }: CheckResult): string {
  const failed = sessions.filter(({ endState }) => endState === 'fail')
  return printableJson({
    verdict,
    conditions: rows,
    sessionCount: sessions.length,
    failed: failed
      .slice(0, 100)
      .map(({ id, name, url, endStateReason }) => ({ id, name, url, endStateReason })),
  })
}

function renderJunit({ rows }: CheckResult): string {
  const count = (state: CheckRow['state']) => rows.filter((row) => row.state === state).length
  const counts = `tests="${rows.length}" failures="${count('broken')}" errors="0"`
  const cases = rows.map(({ name, state, text }) => {
    const head = `    <testcase classname="playhead check" name="${escapeXml(name)}" time="0">`
    const inside =
      state === 'broken'
        ? `<failure message="${escapeXml(text)}" type="condition">${escapeXml(text)}</failure>`
        : state === 'too-few'
          ? `<skipped message="${escapeXml(text)}"/>`
          : `<system-out>${escapeXml(text)}</system-out>`
    return `${head}${inside}</testcase>`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="playhead check" ${counts} time="0">
  <testsuite name="playhead check" timestamp="${new Date().toISOString().slice(0, 19)}" hostname="playhead" ${counts} skipped="${count('too-few')}" time="0">
${cases.join('\n')}
  </testsuite>
</testsuites>`
}

const verdicts = { pass: '✅ passed', fail: '❌ failed', 'too-few': '❔ too few sessions to say' }

export function renderMarkdown(result: CheckResult): string {
  const rows = result.rows.map(
    ({ name, state, text }) => `| ${marks[state]} | ${escapeCell(name)} | ${escapeCell(text)} |`,
  )
  const failed = failedSessions(result)
    .slice(0, SHOWN_SESSIONS)
    .map(({ id, name, url, endStateReason = '' }) => {
      const reason = escapeCell(endStateReason.split('\n', 1)[0]!.slice(0, 140))
      const title = `${shortSessionId(id)} ${escapeCell(name)}`
      return `- ${url === undefined ? title : `[${title}](${url})`}: ${reason}`
    })
  return [
    `## Sessions: ${verdicts[result.verdict]}\n`,
    '| | condition | |',
    '|---|---|---|',
    ...rows,
    '',
    ...(failed.length === 0 ? [] : ['Failed lately:', '', ...failed, '']),
    '',
  ].join('\n')
}

function renderGithub(result: CheckResult): string {
  return result.rows
    .map(({ name, state, text }) => {
      const level = state === 'broken' ? 'error' : state === 'too-few' ? 'warning' : 'notice'
      return `::${level} title=playhead check: ${escapeLine(name)}::${escapeLine(`${name}: ${text}`)}`
    })
    .join('\n')
}

function escapeLine(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}
