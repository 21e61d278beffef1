import {
  describeEndState,
  describeRerun,
  formatAge,
  formatCost,
  formatCount,
  formatDuration,
  isCostIncomplete,
  shortSessionId,
  totalTokens,
  type EndState,
  type SessionSummary,
} from '@playhead/model'
import { plainLine } from '../terminal/printable-text.ts'
import { renderTable, type Column } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Shown beside the colour, which not everyone sees. */
const icons: Record<EndState, string> = {
  success: '✓',
  fail: '✗',
  indeterminate: '?',
  running: '▸',
  lost: '–',
}

const MISSING = '–'

/** Renders sessions as a table that fits the terminal. */
export function renderSessionTable(
  sessions: readonly SessionSummary[],
  terminal: Pick<Terminal, 'width' | 'paint'>,
  nowMs: number,
): string {
  return renderTable(sessionColumns(terminal, nowMs), sessions, terminal)
}

function sessionColumns({ paint }: Pick<Terminal, 'paint'>, nowMs: number): Column<SessionSummary>[] {
  return [
    {
      title: 'State',
      text: ({ endState }) => `${icons[endState] ?? '?'} ${describeEndState(endState)}`,
      paint: (text, { endState }) => paint(endStateColour(endState), text),
    },
    { title: 'Session', text: ({ id }) => shortSessionId(plainLine(id)) },
    {
      title: 'Name',
      text: (session) =>
        [nameOf(session), plainLine(describeRerun(session) ?? ''), previewOf(session)]
          .filter((part) => part !== '')
          .join('  '),
      paint: (text, session) => {
        const name = nameOf(session)
        return text.length <= name.length ? text : name + paint('dim', text.slice(name.length))
      },
      minWidth: 24,
    },
    { title: 'Tags', text: ({ tags }) => tags.map(plainLine).join(', '), minWidth: 10, dropOrder: 1 },
    { title: 'Steps', text: ({ stepCount }) => formatCount(stepCount), align: 'right', dropOrder: 3 },
    { title: 'Tokens', text: (session) => describeTokens(session), align: 'right', dropOrder: 2 },
    { title: 'Cost', text: (session) => describeSessionCost(session), align: 'right', dropOrder: 5 },
    {
      title: 'Duration',
      text: ({ durationMs }) => (durationMs === null ? MISSING : formatDuration(durationMs)),
      align: 'right',
      dropOrder: 4,
    },
    { title: 'When', text: ({ startedAt }) => formatAge(startedAt, nowMs), align: 'right' },
  ]
}

/** Renders a session as tab-separated values for other programs; unknown values are empty. */
export function renderSessionLine(session: SessionSummary): string {
  const { endState, id, name, inputPreview = '', tags, stepCount, cost, durationMs, startedAt } = session
  const { lane, parentId } = session
  const cells = [
    endState,
    id,
    name,
    inputPreview,
    tags.join(','),
    stepCount,
    totalTokens(session.usage),
    cost,
    durationMs,
    startedAt,
    lane,
    parentId,
  ]
  return cells.map((cell) => plainLine(String(cell ?? ''))).join('\t')
}

function nameOf({ name }: SessionSummary): string {
  return plainLine(name)
}

/** The first input line, unless it is the name already. */
function previewOf({ name, inputPreview = '' }: SessionSummary): string {
  const preview = plainLine(inputPreview)
  return preview.startsWith(plainLine(name).replace(/…$/, '')) ? '' : preview
}

function describeTokens({ usage }: SessionSummary): string {
  const tokens = totalTokens(usage)
  return tokens === undefined ? MISSING : formatCount(tokens)
}

/** `+ ?` marks a cost without the calls that have no price or reported no usage. */
function describeSessionCost(session: SessionSummary): string {
  const { cost } = session
  const isPartial = isCostIncomplete(session)
  if (cost === null) return isPartial ? 'unknown' : MISSING
  return isPartial ? `${formatCost(cost)} + ?` : formatCost(cost)
}

export function endStateColour(endState: EndState): 'green' | 'red' | 'yellow' | 'cyan' {
  if (endState === 'success') return 'green'
  if (endState === 'fail') return 'red'
  return endState === 'running' ? 'cyan' : 'yellow'
}
