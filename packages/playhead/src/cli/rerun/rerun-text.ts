import {
  countOf,
  describeEndState,
  formatCost,
  shortSessionId,
  type Session,
  type WordDifference,
} from '@playhead/model'
import type { RerunLine } from '../../rerun/messages.ts'
import { endStateColour } from '../commands/session-table.ts'
import { plainLine } from '../terminal/printable-text.ts'
import type { Painter } from '../terminal/terminal.ts'

type RerunTextOptions = {
  parent: Session
  endpoint: string | undefined
  paint: Painter
  /** What a fork changed; undefined if it should do what was recorded. */
  change?: string | undefined
}

/** The result of one re-run, for people. */
export function renderRerun(line: RerunLine, { parent, endpoint, paint, change }: RerunTextOptions): string {
  const isChanged = change !== undefined && line.session !== null && line.verdict !== 'missed'
  const facts: [name: string, value: string][] = [
    ...(isChanged && line.divergence !== null
      ? [['Divergence', plainLine(line.divergence.sentence)] as [string, string]]
      : []),
    ['Calls', describeCalls(line)],
    ...(line.unused?.length ? [['Not asked for', listUnused(line.unused)] as [string, string]] : []),
    ...describeMapped(line),
    ['End state', describeEnds(line, paint)],
    ...describeSessions(line, parent, endpoint),
  ]
  const width = Math.max(...facts.map(([name]) => name.length))
  return [
    isChanged ? describeChanged(line, change, paint) : describeVerdict(line, paint),
    ...(line.misses[0]?.words === undefined ? [] : ['', `  ${renderWords(line.misses[0].words, paint)}`]),
    ...(line.reason === undefined || line.verdict === 'missed' ? [] : [plainLine(line.reason)]),
    ...(line.notes ?? []).map(plainLine),
    '',
    ...facts.map(([name, value]) => `${paint('dim', name.padEnd(width))}  ${value}`),
  ].join('\n')
}

function describeVerdict({ verdict, misses, divergence, reason }: RerunLine, paint: Painter): string {
  switch (verdict) {
    case 'same':
      return paint('green', '✓ No divergence: the agent did what it did when it was recorded.')
    case 'missed':
      return `${paint('red', '✗')} ${plainLine(misses[0]?.sentence ?? '')}`
    case 'diverged':
      return divergence === null
        ? paint('red', `✗ ${reason === undefined ? 'The run did not end.' : 'There is nothing to compare.'}`)
        : `${paint('red', '✗ First divergence:')} ${plainLine(divergence.sentence)}`
  }
}

/** A run with a change differs from the recording; how it ended is what counts. */
function describeChanged({ endState, parentEndState }: RerunLine, change: string, paint: Painter): string {
  const end = describeEndState(endState!)
  const mark = endState === 'success' ? '✓' : '✗'
  return `${paint(endStateColour(endState!), `${mark} ${end}`)} with ${plainLine(change)}, recorded was ${describeEndState(parentEndState)}.`
}

/** Text that both sides have is shown around what differs. */
const AROUND = 60

function renderWords(words: readonly WordDifference[], paint: Painter): string {
  return words
    .map(({ kind, text }, index) => {
      const shown = text.replaceAll(/\s+/g, ' ')
      if (kind === 'a') return paint('red', `[-${shown}-]`)
      if (kind === 'b') return paint('green', `{+${shown}+}`)
      const [isFirst, isLast] = [index === 0, index === words.length - 1]
      if (shown.length <= 2 * AROUND) return shown
      const start = isFirst ? '' : shown.slice(0, AROUND)
      const end = isLast ? '' : shown.slice(-AROUND)
      return `${start}…${end}`
    })
    .join('')
}

function describeCalls({ calls: { taped, live, stubbed }, costUsd }: RerunLine): string {
  const parts = [`${taped} from the tape`]
  if (live > 0) parts.push(`${live} live`)
  if (stubbed > 0) parts.push(`${stubbed} stubbed`)
  if (costUsd > 0) parts.push(`${formatCost(costUsd)} spent`)
  return parts.join(', ')
}

const MAX_LISTED = 8

function listUnused(unused: NonNullable<RerunLine['unused']>): string {
  const listed = unused.slice(0, MAX_LISTED).map(({ step, name }) => `step ${step} ${plainLine(name)}`)
  const more = unused.length - listed.length
  return [...listed, ...(more > 0 ? [`${more} more`] : [])].join(', ')
}

function describeMapped({ mapped }: RerunLine): [string, string][] {
  const { uuid = 0, time = 0, id = 0 } = mapped ?? {}
  const counts = [
    ...(uuid > 0 ? [countOf(uuid, 'uuid')] : []),
    ...(time > 0 ? [countOf(time, 'time')] : []),
    ...(id > 0 ? [countOf(id, 'id')] : []),
  ]
  return counts.length === 0 ? [] : [['Mapped', `${counts.join(', ')} that differ from run to run`]]
}

function describeEnds({ endState, parentEndState, verdict }: RerunLine, paint: Painter): string {
  if (endState === null) return 'none'
  const word = paint(endStateColour(endState), describeEndState(endState))
  if (verdict === 'missed') return `${word} after the miss, recorded was ${describeEndState(parentEndState)}`
  return endState === parentEndState
    ? `${word}, as recorded`
    : `${word}, recorded was ${describeEndState(parentEndState)}`
}

function describeSessions(
  { session, otherSessions = [], file }: RerunLine,
  parent: Session,
  endpoint: string | undefined,
): [string, string][] {
  if (session === null) return []
  const others = otherSessions.map((id) => shortSessionId(id)).join(', ')
  const further: [string, string][] = others === '' ? [] : [['Also recorded', others]]
  if (endpoint === undefined)
    return [['Session', `${shortSessionId(session)}${file === undefined ? '' : `  ${file}`}`], ...further]
  return [
    ['Session', `${shortSessionId(session)}  ${endpoint}/sessions/${session}`],
    ['Compare', `${endpoint}/compare?a=${parent.session.id}&b=${session}`],
    ...further,
  ]
}
