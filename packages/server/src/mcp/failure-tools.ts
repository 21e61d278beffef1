import {
  alignSessions,
  countOf,
  createArgumentTracer,
  describeEndState,
  describeOrigin,
  describeValue,
  oneLine,
  renderComparison,
  renderReplayParts,
  shortSessionId,
  stepTitle,
  type Findings,
  type Session,
  type SessionSummary,
  type Step,
} from '@playhead/model'
import { z } from 'zod'
import type { Issue } from '../api/schemas/findings.ts'
import { compareVersions } from '../findings/issue-state.ts'
import { writeAnswer } from './answer.ts'
import { SESSION } from './session-tools.ts'
import { defineTool, linkTo, readWhole, type ToolApi } from './tool.ts'

export const explainFailure = defineTool({
  name: 'explain_failure',
  description:
    'Why a session went wrong, from evidence: the steps to suspect, what they received, where those values came from, and a run that passed to compare with.',
  input: z.object({ session: z.string().max(2_000).default('last-failed').describe(SESSION) }),
  async run({ session: named }, api) {
    const whole = await readWhole(api, named)
    const { session } = whole
    const findings = await api.get<Findings>(`/api/sessions/${session.id}/findings`)
    const passing = await findPassing(session, api)
    const { header } = renderReplayParts({ session, steps: [] })
    return writeAnswer({
      head: [
        header,
        findings.suspects.length === 0
          ? 'No suspects: nothing in the steps shows what went wrong.'
          : `${countOf(findings.suspects.length, 'suspect')}, the most likely first.`,
      ].join('\n'),
      blocks: [
        describeSession(session),
        ...findings.suspects.map((suspect, index) => describeSuspect(suspect, index, { findings, whole })),
        ...failedSteps(whole, new Set(findings.suspects.map(({ stepId }) => stepId))),
      ],
      foot: [
        passing === undefined
          ? undefined
          : `A run of the same name that passed: ${shortSessionId(passing.id)}. Ask compare_sessions with a: "${shortSessionId(session.id)}", b: "${shortSessionId(passing.id)}".`,
        linkTo(api, `/sessions/${session.id}`, { step: findings.suspects[0]?.stepId }),
      ],
    })
  },
})

function describeSession({
  name,
  endState,
  endStateReason,
  inputPreview,
  startedAt,
}: SessionSummary): string {
  const why = endStateReason === undefined ? '' : `: ${oneLine(endStateReason, 300)}`
  const input = inputPreview === undefined ? '' : `\nInput: ${oneLine(inputPreview, 300)}`
  return `${oneLine(name, 200)}, started ${startedAt}, ended ${describeEndState(endState)}${why}${input}`
}

const MOST_EVIDENCE = 6

type Found = { findings: Findings; whole: Session }

function describeSuspect(
  suspect: Findings['suspects'][number],
  index: number,
  { findings, whole }: Found,
): string {
  const at = whole.steps.findIndex(({ id }) => id === suspect.stepId)
  const step = whole.steps[at]
  const evidence = suspect.findings.flatMap((position) => findings.findings[position]?.evidence ?? [])
  const numbers = new Map(whole.steps.map(({ id }, place) => [id, place + 1]))
  // A set, because several findings may rest on the same evidence.
  const lines = new Set(
    evidence.map(({ stepId, path, text }) => {
      const place = path === '' ? '' : ` ${oneLine(path, 80)}`
      return `   evidence: step ${numbers.get(stepId) ?? '?'}${place} = ${oneLine(text, 240)}`
    }),
  )
  return [
    `${index + 1}. ${oneLine(suspect.sentence, 400)}`,
    ...(step === undefined ? [] : [`   step ${at + 1}: ${oneLine(stepTitle(step), 120)}`]),
    ...[...lines].slice(0, MOST_EVIDENCE),
    ...(step === undefined ? [] : describeOrigins(whole, step)),
  ].join('\n')
}

/** Where the arguments of a step came from. */
function describeOrigins(whole: Session, step: Step): string[] {
  const trace = createArgumentTracer(whole.steps)
  return trace(step)
    .slice(0, 5)
    .flatMap((found) => {
      const from = describeOrigin(found)
      return from === undefined
        ? []
        : [
            `   argument ${oneLine(found.path, 80)} = ${describeValue(found.value, 80)}: ${oneLine(from, 200)}`,
          ]
    })
}

/** Steps that failed and are no suspects. */
function failedSteps(whole: Session, suspects: ReadonlySet<string>): string[] {
  const { steps } = renderReplayParts(whole, { width: 160, errorsOnly: true })
  const others = steps.filter(({ step }) => !suspects.has(step.id))
  return others.length === 0 ? [] : ['Failed steps:', ...others.map(({ text }) => text)]
}

async function findPassing(
  { id, name, test }: SessionSummary,
  api: ToolApi,
): Promise<SessionSummary | undefined> {
  const query = {
    status: 'success',
    reruns: 'exclude',
    limit: '10',
    ...(test === undefined ? { name } : { test: test.name }),
  }
  const { sessions } = await api.get<{ sessions: SessionSummary[] }>('/api/sessions', query)
  return sessions.find((session) => session.id !== id && session.name === name)
}

export const compareSessions = defineTool({
  name: 'compare_sessions',
  description:
    'Aligns two sessions step by step: the first divergence, the effects that differ, and the steps around them.',
  input: z.object({
    a: z.string().max(2_000).describe(`${SESSION}. Example: test:refunds status:fail`),
    b: z.string().max(2_000).describe('Example: test:refunds status:success'),
  }),
  async run({ a: first, b: second }, api) {
    const [a, b] = [await readWhole(api, first), await readWhole(api, second)]
    const text = renderComparison(alignSessions(a, b), [a, b], { width: 160 })
    return writeAnswer({
      head: `${shortSessionId(a.session.id)} (A) and ${shortSessionId(b.session.id)} (B). Columns: step in A, step in B; + only in B, - only in A, ~ differs.`,
      blocks: text.trimEnd().split('\n'),
      omitted: (_, count) => `${countOf(count, 'line')} omitted; look at the steps with show_session.`,
      foot: [linkTo(api, '/compare', { a: a.session.id, b: b.session.id })],
    })
  },
})

export const listIssues = defineTool({
  name: 'list_issues',
  description:
    'Failures that several sessions share, counted: since when, how often, in which versions, with an example.',
  input: z.object({
    state: z.enum(['open', 'reopened', 'resolved', 'ignored', 'all']).default('open'),
    new_since_version: z
      .string()
      .max(200)
      .optional()
      .describe('Only issues first seen in this version or later'),
    from: z.number().int().min(0).default(0),
  }),
  async run({ state, new_since_version: since, from }, api) {
    const { issues, omitted } = await api.get<{ issues: Issue[]; omitted: number }>('/api/issues', {
      state: state === 'all' ? undefined : state,
    })
    const asked = since === undefined ? issues : issues.filter(({ versions }) => isNewSince(versions, since))
    const which = [state === 'all' ? '' : `${state} `, 'issue'].join('')
    const news = since === undefined ? '' : ` first seen in version ${oneLine(since, 50)} or later`
    return writeAnswer({
      head:
        asked.length === 0
          ? `No ${which}s${news}.`
          : `${countOf(asked.length, which)}${news}, last seen first:`,
      blocks: asked.slice(from).map(describeIssue),
      omitted: (first, count) => `${count} omitted; ask with from: ${from + first}.`,
      foot: [
        omitted === 0
          ? undefined
          : `${countOf(omitted, 'issue')} that ${omitted === 1 ? 'was' : 'were'} seen longest ago, in any state, can't be listed; ask query_sql for them, table findings.`,
        linkTo(api, '/issues'),
      ],
    })
  },
})

/** Versions are the oldest first. One that has no order, like a commit, counts if it is the version itself. */
function isNewSince([first]: readonly string[], since: string): boolean {
  if (first === undefined || first === '') return false
  return first === since || (compareVersions(first, since) ?? -1) >= 0
}

function describeIssue(issue: Issue): string {
  const { id, state, kind, title, sessions, users, firstSeenAt, lastSeenAt, versions } = issue
  const passing = issue.passingSessionId === null ? '' : `, passing ${shortSessionId(issue.passingSessionId)}`
  return [
    `${id.slice(0, 8)} · ${state} · ${kind} · ${countOf(sessions, 'session')}, ${countOf(users, 'user')} · ${oneLine(title, 200)}`,
    `  first ${firstSeenAt.slice(0, 19)}, last ${lastSeenAt.slice(0, 19)}, versions ${versions.length === 0 ? 'unknown' : oneLine(versions.join(', '), 120)}`,
    `  example ${shortSessionId(issue.exampleSessionId)}${passing}${issue.note === undefined ? '' : `, note ${describeValue(issue.note, 120)}`}`,
  ].join('\n')
}
