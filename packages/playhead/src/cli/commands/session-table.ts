import {
  describeEndState,
  formatCost,
  formatDuration,
  shortSessionId,
  type EndState,
  type SessionSummary,
  formatAge,
  formatCount,
} from '@playhead/model'
import { renderTable, type Column } from '../terminal/table.ts'
import { plainLine, type Terminal } from '../terminal/terminal.ts'

/** The state is never told by its colour alone. */
const icons: Record<EndState, string> = {
  success: '✓',
  fail: '✗',
  indeterminate: '?',
  running: '▸',
  lost: '–',
}

const MISSING = '–'

/** Sessions for people: a row each, fitted to the terminal. */
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
      paint: (text, { endState }) => paint(colourOf(endState), text),
    },
    { title: 'Session', text: ({ id }) => shortSessionId(plainLine(id)) },
    {
      title: 'Name',
      text: (session) => [nameOf(session), previewOf(session)].filter((part) => part !== '').join('  '),
      paint: (text, session) => {
        const name = nameOf(session)
        return text.length <= name.length ? text : name + paint('dim', text.slice(name.length))
      },
      shrinksTo: 24,
    },
    { title: 'Tags', text: ({ tags }) => tags.map(plainLine).join(', '), shrinksTo: 10, dropOrder: 1 },
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

/**
 * A session for programs: state, id, name, first input line, tags, steps, tokens, US dollars, milliseconds, start.
 * What is not known is empty.
 */
export function renderSessionLine(session: SessionSummary): string {
  const { endState, id, name, inputPreview = '', tags, stepCount, cost, durationMs, startedAt } = session
  const cells = [
    endState,
    id,
    name,
    inputPreview,
    tags.join(','),
    stepCount,
    tokensOf(session),
    cost,
    durationMs,
    startedAt,
  ]
  return cells.map((cell) => plainLine(String(cell ?? ''))).join('\t')
}

function nameOf({ name }: SessionSummary): string {
  return plainLine(name)
}

/** The first input line, unless the session is named after it. */
function previewOf({ name, inputPreview = '' }: SessionSummary): string {
  const preview = plainLine(inputPreview)
  return preview.startsWith(plainLine(name).replace(/…$/, '')) ? '' : preview
}

function tokensOf({ usage }: SessionSummary): number | undefined {
  if (usage.total !== undefined) return usage.total
  const { input, output } = usage
  return input === undefined && output === undefined ? undefined : (input ?? 0) + (output ?? 0)
}

function describeTokens(session: SessionSummary): string {
  const tokens = tokensOf(session)
  return tokens === undefined ? MISSING : formatCount(tokens)
}

/** A cost that lacks a model's part says so. */
function describeSessionCost({ cost, unpricedModels }: SessionSummary): string {
  const isPartial = unpricedModels.length > 0
  if (cost === null) return isPartial ? 'unknown' : MISSING
  return isPartial ? `${formatCost(cost)} + ?` : formatCost(cost)
}

function colourOf(endState: EndState): 'green' | 'red' | 'yellow' | 'cyan' {
  if (endState === 'success') return 'green'
  if (endState === 'fail') return 'red'
  return endState === 'running' ? 'cyan' : 'yellow'
}
