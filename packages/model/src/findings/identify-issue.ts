import { hashText } from '../align/text-shape.ts'
import { hasFailed } from '../session/failure.ts'
import { oneLine } from '../format/visible-text.ts'
import type { FindingKind, Rule } from './finding.ts'
import { kindOf } from './finding.ts'
import type { FollowedClue } from './rank-suspects.ts'
import type { Trajectory } from './trajectory.ts'

/** What sessions with the same failure have in common: the same id, whatever their ids, numbers and times. */
export type IssueKey = { id: string; kind: FindingKind; title: string }

const TITLE_WIDTH = 160

/**
 * The issue that a session belongs to: by the kind of its first suspect, the tool or agent, and the shape of the error.
 * Undefined for sessions without a suspect, and for re-runs, which count nowhere.
 */
export function identifyIssue(run: Trajectory, main: FollowedClue | undefined): IssueKey | undefined {
  const { session } = run
  if (session.parentId !== undefined) return undefined
  const reason = run.hasFailed ? session.endStateReason : undefined
  if (main === undefined)
    return reason === undefined ? undefined : toKey('error', session.name, maskDetails(reason), reason)
  const kind = kindOf(main.rule)
  // Where a rule only says where to look, the reason tells one failure from another.
  if (leads.has(main.rule) && reason !== undefined)
    return toKey(kind, session.name, maskDetails(reason), reason)
  const subject = subjectOf(main, run)
  const shape = shapeOf(main, run)
  return toKey(kind, subject, shape, titleOf(main.sentence))
}

/** Rules that point to a step without saying what is wrong with it. */
const leads: ReadonlySet<Rule> = new Set([
  'divergence/first-act',
  'divergence/last-act',
  'fail-plausible/answer-origin',
  'fail-plausible/unsourced',
  'fail-plausible/empty-result',
  'claim-without-act/pretended',
  'claim-without-act/assumption',
  'error/obstacle',
  'error/regretted',
  'cut-short/session',
])

function toKey(kind: FindingKind, subject: string, shape: string, title: string): IssueKey {
  const text = [kind, subject, shape].join('\0')
  const id = [hashText(text), hashText(text, 1)].map((hash) => hash.toString(16).padStart(14, '0')).join('')
  return { id: id.slice(0, 24), kind, title: oneLine(title, TITLE_WIDTH) }
}

/** The tool that the finding is about, otherwise the agent. */
function subjectOf({ evidence, shownAt, stepId }: FollowedClue, { turnOf, session }: Trajectory): string {
  const places = [shownAt, ...evidence.map((place) => place.stepId), stepId]
  for (const id of places) {
    const turn = turnOf.get(id ?? '')
    if (turn?.role === 'action') return turn.name
  }
  return turnOf.get(stepId)?.step.agent ?? session.name
}

/** The error without its details. Without an error, the place of the value, or which limit it was. */
function shapeOf({ rule, evidence, shownAt, stepId }: FollowedClue, { turnOf }: Trajectory): string {
  const failed = [shownAt, ...evidence.map((place) => place.stepId), stepId]
    .map((id) => turnOf.get(id ?? '')?.step)
    .find((step) => step !== undefined && hasFailed(step))
  const error = failed?.error === undefined ? '' : `${failed.error.type} ${maskDetails(failed.error.message)}`
  const place = evidence.at(-1)
  if (rule.startsWith('cut-short/')) return maskDetails(place?.text ?? '')
  if (rule === 'divergence/effect' || rule === 'divergence/read') return maskDetails(place?.text ?? '')
  if (rule === 'outlier/far') return place?.path ?? ''
  const path = place?.path.startsWith('arguments') === true ? place.path : ''
  return `${path} ${error}`.trim()
}

/** Without the numbers of the steps, which differ between sessions. */
function titleOf(sentence: string): string {
  return sentence
    .replaceAll(/; it began at step \d+/g, '')
    .replaceAll(/\b[Ss]teps? \d+ /g, '')
    .replace(/\.$/, '')
}

/** Masks quoted values and words with digits (ids of any length, numbers), so that messages that differ only in them are equal. */
export function maskDetails(message: string): string {
  return message
    .slice(0, 500)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '#')
    .replaceAll(/(["'`])(?:(?!\1).){1,200}\1/g, '#')
    .replaceAll(/\b(?=[\w-]*\d)[\w-]+/g, '#')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
