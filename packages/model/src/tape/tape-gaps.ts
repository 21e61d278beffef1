import { REDACTED } from '../redaction/secret-keys.ts'
import type { Session } from '../session/session.ts'
import { stepTitle, type Step } from '../session/step.ts'
import { keptResponse, recordedStatus } from './recorded-answer.ts'
import { findAskable, recordedResult, type AskableStep } from './tape-entry.ts'
import { describeNotData, recordedTypes } from './value-types.ts'

/**
 * Why a step can't be served from the tape.
 * - `content-off`: the content was not recorded. `no-output`: the step has no recorded end.
 * - `answer-cut`: the answer or result was too large to be kept whole. `redacted-result`: a secret was removed from it.
 * - `embeddings`: vectors are not recorded. `result-not-data`: the result can't be written as data.
 * - `tool-not-wrapped`: another instrumentation reported the action, so nothing asks the tape for it.
 */
export type TapeGapReason =
  | 'content-off'
  | 'no-output'
  | 'answer-cut'
  | 'redacted-result'
  | 'embeddings'
  | 'result-not-data'
  | 'tool-not-wrapped'

export type TapeGap = { reason: TapeGapReason; stepId: string; sentence: string }

const sentences: Record<TapeGapReason, string> = {
  'content-off': 'its content was not recorded',
  'no-output': 'it has no recorded end',
  'answer-cut': 'its answer was too large to be recorded whole',
  'redacted-result': 'a secret was removed from its result',
  embeddings: 'vectors are not recorded',
  'result-not-data': 'its result is not data that can be recorded',
  'tool-not-wrapped': 'its tool is not wrapped with recordTool, so it can’t be answered from the tape',
}

/** What keeps a session from being run again from its tape; empty if nothing does. */
export function findTapeGaps(session: Session): TapeGap[] {
  const askable = findAskable(session)
  const servedInside = stepsInsideLeaves(session, askable)
  const gaps = askable
    .filter(({ step }) => !servedInside.has(step.id))
    .flatMap((asked) => gapOf(asked.step, findReason(asked)))
  const unasked = session.steps.filter(({ kind, isInferred }) => kind === 'action' && isInferred === true)
  return [...gaps, ...unasked.flatMap((step) => gapOf(step, 'tool-not-wrapped'))]
}

function gapOf(step: Step, reason: TapeGapReason | undefined): TapeGap[] {
  if (reason === undefined) return []
  const why =
    (reason === 'result-not-data' ? describeNotData(recordedTypes(step)) : undefined) ?? sentences[reason]
  return [{ reason, stepId: step.id, sentence: `${stepTitle(step)}: ${why}` }]
}

/** A result without a secret that was removed from it is still of use. */
const servable: ReadonlySet<TapeGapReason | undefined> = new Set([undefined, 'redacted-result'])

/** Why the result of an action can't be served; undefined if it can. */
export function whyNotServable(step: Step): string | undefined {
  const reason = actionReason(step)
  return servable.has(reason) ? undefined : gapOf(step, reason)[0]?.sentence
}

/** Steps below an action that is served as a whole are never asked for. */
function stepsInsideLeaves({ steps }: Session, askable: readonly AskableStep[]): Set<string> {
  const leaves = new Set(
    askable.flatMap((asked) => (asked.kind === 'action' && !asked.isContainer ? [asked.step.id] : [])),
  )
  const inside = new Set<string>()
  for (const { id, parentId } of steps)
    if (parentId !== null && (leaves.has(parentId) || inside.has(parentId))) inside.add(id)
  return inside
}

function findReason(asked: AskableStep): TapeGapReason | undefined {
  const { step } = asked
  if (step.status === 'running') return 'no-output'
  return asked.kind === 'model' ? modelReason(step) : asked.isContainer ? undefined : actionReason(step)
}

function modelReason(step: Step): TapeGapReason | undefined {
  if (step.kind === 'embedding') return 'embeddings'
  const outputs = step.messages?.filter(({ isOutput }) => isOutput === true) ?? []
  const hasFailed = step.status === 'error' || (recordedStatus(step) ?? 0) >= 400
  if (outputs.length === 0 && !hasFailed && keptResponse(step) === undefined) return 'no-output'
  const texts = outputs.flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')))
  if (texts.some((text) => notRecorded.test(text))) return 'content-off'
  return keptResponse(step) === undefined && wasCut(step, 'response') ? 'answer-cut' : undefined
}

function actionReason(step: Step): TapeGapReason | undefined {
  if (!step.dialect.includes('playhead')) return 'tool-not-wrapped'
  if (step.status === 'error') return undefined
  const result = recordedResult(step)
  if (result === '[not recorded]') return 'content-off'
  if (wasCut(step, 'result')) return 'answer-cut'
  const types = recordedTypes(step)
  if (describeNotData(types) !== undefined) return 'result-not-data'
  if (JSON.stringify([result, types]).includes(REDACTED)) return 'redacted-result'
  // Older SDKs did not record types, so bytes and text about bytes look the same.
  const isLabel = typeof result === 'string' && types[''] === undefined && notData.test(result)
  return isLabel ? 'result-not-data' : undefined
}

const notRecorded = /^\[\d+ characters\]$/
const notData =
  /^\[(?:\d+ bytes|function\b.*|class\b.*|Response|Request|ReadableStream|Readable|WebSocket)\]$/i

/** Older SDKs did not say what was cut. */
function wasCut({ attributes = {} }: Step, what: string): boolean {
  const cut = attributes['playhead.truncated.of']
  return Array.isArray(cut) ? cut.includes(what) : attributes['playhead.truncated'] === true
}
