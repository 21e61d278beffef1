import {
  countOf,
  describeCost,
  describeRerun,
  formatDuration,
  inputMessagesOf,
  messageText,
  oneLine,
  renderReplayParts,
  renderTextReplay,
  shortSessionId,
  stepInput,
  stepResult,
  stepTitle,
  textOfValue,
  type Session,
  type SessionSummary,
  type Step,
} from '@playhead/model'
import { z } from 'zod'
import type { ListedSuspect } from '../store/findings-table.ts'
import { MAX_ANSWER_LENGTH, writeAnswer } from './answer.ts'
import { defineTool, findSession, linkTo, parseWhere, readWhole, ToolProblem, type ToolApi } from './tool.ts'

const WHERE =
  'Filter: key:value terms, all must match; words search prompts, answers, arguments. Keys: status (success|fail|indeterminate|running|lost), name, tag, tool, failedTool, error, finding, issue, model, agent, cost (>0.01), duration (>2s), user, thread, environment, version, branch, test, from, to (24h, 7d, ISO). Example: status:fail tag:support from:24h "charged twice"'

export const SESSION = 'Id or its first digits, last, last-failed, or a filter: its newest match'

type Listed = SessionSummary & { suspect?: ListedSuspect }

const MAX_LISTED = 30

export const findSessions = defineTool({
  name: 'find_sessions',
  description:
    'Lists recorded runs of agents, newest first, with how they ended, what they cost and what probably went wrong.',
  input: z.object({
    where: z.string().max(2_000).optional().describe(WHERE),
    sort: z.enum(['time', 'cost', 'duration', 'steps', 'errors', 'tokens']).optional(),
    limit: z.number().int().min(1).max(MAX_LISTED).default(15),
    cursor: z.string().max(1_000).optional(),
  }),
  async run({ where, sort, limit, cursor }, api) {
    const query = { ...parseWhere(where), sort, cursor, limit: String(limit), suspects: 'true' }
    const page = await api.get<{ sessions: Listed[]; nextCursor?: string }>('/api/sessions', query)
    const { sessions, nextCursor } = page
    return writeAnswer({
      head: describeCount(sessions.length, where, nextCursor !== undefined),
      blocks: sessions.map(describeListed),
      foot: [
        nextCursor === undefined ? undefined : `More omitted; ask with cursor: "${nextCursor}".`,
        linkTo(api, '/sessions', { q: where }),
      ],
    })
  },
})

function describeCount(count: number, where: string | undefined, hasMore: boolean): string {
  const filter = where === undefined || where.trim() === '' ? '' : ` match ${oneLine(where, 200)}`
  if (count === 0) return filter === '' ? 'There are no sessions.' : `No sessions${filter}.`
  return `${hasMore ? `The first ${countOf(count, 'session')}` : countOf(count, 'session')}${filter === '' ? '' : ` that${filter}`}:`
}

function describeListed(session: Listed): string {
  const { id, endState, startedAt, durationMs, suspect, test, vcs, version } = session
  const rerun = describeRerun(session)
  const facts = [
    shortSessionId(id),
    endState,
    startedAt.slice(0, 19),
    oneLine(session.name, 40),
    durationMs === null ? 'running' : formatDuration(durationMs),
    describeCost(session.cost, session.unpricedModels.map((model) => oneLine(model, 30)).slice(0, 2)),
    countOf(session.stepCount, 'step'),
    ...(test?.name === undefined ? [] : [`test "${oneLine(test.name, 50)}"`]),
    ...(vcs?.branch === undefined ? [] : [`branch ${oneLine(vcs.branch, 30)}`]),
    ...(version === undefined ? [] : [`version ${oneLine(version, 20)}`]),
    ...(rerun === undefined ? [] : [oneLine(rerun, 60)]),
  ].join(' · ')
  const why = suspect?.sentence ?? session.endStateReason
  return [
    facts,
    ...(session.inputPreview === undefined ? [] : [`  input: ${oneLine(session.inputPreview, 100)}`]),
    ...(why === undefined || endState === 'success' ? [] : [`  why: ${oneLine(why, 160)}`]),
  ].join('\n')
}

export const showSession = defineTool({
  name: 'show_session',
  description: 'Replays one session as text: every step with its time, input, output, error and cost.',
  input: z.object({
    session: z.string().max(2_000).describe(SESSION),
    errors_only: z.boolean().optional(),
    from_step: z.number().int().min(1).default(1),
  }),
  async run({ session: named, errors_only: errorsOnly = false, from_step: from }, api) {
    const session = await readWhole(api, named)
    const filled = await fillWindow(session, from, api)
    const { header, steps, end } = renderReplayParts(filled, { width: 160, errorsOnly })
    const numbers = new Map(session.steps.map(({ id }, index) => [id, index + 1]))
    const numbered = steps.map(({ step, text }) => ({ number: numbers.get(step.id) ?? 0, text }))
    const shown = numbered.filter(({ number }) => number >= from)
    const { id, name } = session.session
    return writeAnswer({
      head: `${header}\n${countOf(session.steps.length, 'step')}${from > 1 ? `, from step ${from}` : ''}.`,
      blocks: [`Name: ${oneLine(name, 200)}`, ...shown.map(({ text }) => text), end],
      omitted: (first, count) =>
        `${countOf(count, 'step')} omitted; ask with from_step: ${shown[first - 1]?.number ?? from}.`,
      foot: [linkTo(api, `/sessions/${id}`)],
    })
  },
})

const WINDOW = 25

/** The steps of a long session come without payloads: reads those that an answer has room for. */
async function fillWindow(session: Session, from: number, api: ToolApi): Promise<Session> {
  const isWhole = session.steps.some(({ messages, input, output }) => messages ?? input ?? output)
  if (isWhole || session.steps.length <= WINDOW) return session
  const steps = [...session.steps]
  for (let index = from - 1; index < Math.min(steps.length, from - 1 + WINDOW); index += 1)
    steps[index] = await readStep(api, session.session.id, steps[index]!.id)
  return { session: session.session, steps }
}

function readStep(api: ToolApi, sessionId: string, stepId: string): Promise<Step> {
  return api.get<Step>(`/api/sessions/${sessionId}/steps/${stepId}`)
}

export const getStep = defineTool({
  name: 'get_step',
  description: 'One step in full: its whole input, output, error and attributes.',
  input: z.object({
    session: z.string().max(2_000).describe(SESSION),
    step: z.union([z.number().int().min(1), z.string().max(100)]).describe('Number as in #7, or id'),
    part: z.enum(['all', 'input', 'output', 'attributes']).default('all'),
    offset: z.number().int().min(0).default(0),
  }),
  async run({ session: named, step: asked, part, offset }, api) {
    const id = await findSession(api, named)
    const outline = await api.get<Session>(`/api/sessions/${id}`, { payloads: 'none' })
    const number = typeof asked === 'number' ? asked : numberOf(outline, asked)
    const listed = outline.steps[number - 1]
    if (listed === undefined)
      throw new ToolProblem(
        `There is no step ${asked}: the session has ${countOf(outline.steps.length, 'step')}.`,
      )
    const step = await readStep(api, outline.session.id, listed.id)
    const text = textOfPart(outline, step, number, part)
    const shown = text.slice(offset, offset + ROOM_FOR_STEP)
    const left = text.length - offset - shown.length
    return writeAnswer({
      head: `Step ${number} of ${outline.steps.length} of ${shortSessionId(outline.session.id)}, ${part === 'all' ? 'in full' : part}:`,
      blocks: [`${oneLine(stepTitle(step), 200)}\n${shown}`],
      foot: [
        left <= 0
          ? undefined
          : `${countOf(left, 'character')} omitted; ask with offset: ${offset + shown.length}.`,
        linkTo(api, `/sessions/${outline.session.id}`, { step: step.id }),
      ],
    })
  },
})

const ROOM_FOR_STEP = MAX_ANSWER_LENGTH - 1_200

function numberOf({ steps }: Session, asked: string): number {
  const number = Number(asked.replace(/^#/, ''))
  const index = steps.findIndex(({ id }) => id === asked)
  return index === -1 && Number.isInteger(number) ? number : index + 1
}

function textOfPart(session: Session, step: Step, number: number, part: string): string {
  if (part === 'attributes') return JSON.stringify(step.attributes ?? {}, undefined, 1)
  if (part === 'input')
    return step.messages === undefined
      ? textOfValue(stepInput(step, true))
      : inputMessagesOf(step).map(messageText).join('\n\n')
  if (part === 'output') return textOfValue(stepResult(step, true))
  const steps = session.steps.map((one) => (one.id === step.id ? step : one))
  return renderTextReplay({ session: session.session, steps }, { step: number })
}
