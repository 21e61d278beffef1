import { isRecord, type JsonObject } from '../json/attribute-value.ts'
import { endStates } from '../session/end-state.ts'
import type { Score } from '../session/score.ts'
import type { Session, SessionSummary } from '../session/session.ts'
import { stepKinds, type Step } from '../session/step.ts'

/** The version that is written, and the newest that can be read. */
export const RECORDING_VERSION = 1

/** A session saved to a file. */
export type Recording = Session & { version: number; exportedAt: string }

/** Upgrades a recording to the next version. */
export type RecordingUpgrade = (recording: JsonObject) => JsonObject

/**
 * The first entry upgrades version 1 to 2, and so on. Entries are never removed, so that old recordings stay
 * readable.
 */
const upgrades: readonly RecordingUpgrade[] = []

export function toRecording(session: Session, exportedAt: string): Recording {
  const { session: summary, steps, scores } = session
  return {
    version: RECORDING_VERSION,
    exportedAt,
    session: summary,
    steps,
    ...(scores !== undefined && { scores }),
  }
}

/** Validates a recording of this or an older version. The problem says what is wrong and where. */
export function parseRecording(json: unknown): { session: Session } | { problem: string } {
  const upgraded = upgradeRecording(json, upgrades)
  if ('problem' in upgraded) return upgraded
  const { session, steps, scores } = upgraded.recording
  const problem = findProblem(session, steps) ?? findScoreProblem(scores)
  if (problem !== undefined) return { problem: `not a Playhead recording: ${problem}` }
  const read: Session = { session: session as SessionSummary, steps: steps as Step[] }
  if (scores !== undefined) read.scores = scores as Score[]
  return { session: read }
}

/** Parses the text of a recording file. */
export function parseRecordingText(text: string): { session: Session } | { problem: string } {
  try {
    return parseRecording(JSON.parse(text.replace(/^\uFEFF/, '')))
  } catch (error) {
    return { problem: `not JSON: ${(error as Error).message}` }
  }
}

/** Applies all upgrades that come after the recording's version. */
export function upgradeRecording(
  json: unknown,
  chain: readonly RecordingUpgrade[],
): { recording: JsonObject } | { problem: string } {
  if (!isRecord(json)) return { problem: 'not a Playhead recording: it is not a JSON object' }
  const { version } = json
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1)
    return { problem: 'not a Playhead recording: it has no version' }
  const newest = chain.length + 1
  if (version > newest)
    return {
      problem: `made by a newer Playhead: version ${version}, this one reads up to ${newest}; update Playhead to open it`,
    }
  let recording = json
  for (const upgrade of chain.slice(version - 1)) recording = upgrade(recording)
  return { recording: { ...recording, version: newest } }
}

/** Validates required fields only; optional ones are checked where they are used. */
function findProblem(session: unknown, steps: unknown): string | undefined {
  if (!isRecord(session)) return 'session is missing'
  for (const field of ['id', 'name', 'startedAt'])
    if (typeof session[field] !== 'string') return `session.${field} must be a string`
  if (!endStates.some((state) => state === session.endState))
    return `session.endState must be one of ${endStates.join(', ')}`
  if (!isNumberOrNull(session.durationMs)) return 'session.durationMs must be a number or null'
  if (!isNumberOrNull(session.cost)) return 'session.cost must be a number or null'
  if (!isRecord(session.usage)) return 'session.usage must be an object'
  for (const field of ['tags', 'models', 'agents', 'tools', 'unpricedModels'])
    if (!isListOfText(session[field])) return `session.${field} must be a list of strings`
  if (!Array.isArray(steps)) return 'steps must be a list'
  for (const [index, step] of steps.entries()) {
    const problem = findStepProblem(step)
    if (problem !== undefined) return `steps[${index}]${problem}`
  }
  return undefined
}

function findStepProblem(step: unknown): string | undefined {
  if (!isRecord(step)) return ' must be an object'
  for (const field of ['id', 'name', 'startedAt', 'dialect'])
    if (typeof step[field] !== 'string') return `.${field} must be a string`
  if (step.parentId !== null && typeof step.parentId !== 'string') return '.parentId must be a string or null'
  if (!stepKinds.some((kind) => kind === step.kind)) return `.kind must be one of ${stepKinds.join(', ')}`
  if (!['ok', 'error', 'soft-error', 'running'].some((status) => status === step.status))
    return '.status must be one of ok, error, soft-error, running'
  if (typeof step.offsetMs !== 'number') return '.offsetMs must be a number'
  if (!isNumberOrNull(step.durationMs)) return '.durationMs must be a number or null'
  if (!isNumberOrNull(step.cost)) return '.cost must be a number or null'
  if (step.error !== undefined && !(isRecord(step.error) && typeof step.error.message === 'string'))
    return '.error.message must be a string'
  if (step.messages !== undefined && !isListOfMessages(step.messages))
    return '.messages must be a list of messages with parts'
  return undefined
}

function findScoreProblem(scores: unknown): string | undefined {
  if (scores === undefined) return undefined
  if (!Array.isArray(scores)) return 'scores must be a list'
  const isScore = (score: unknown) =>
    isRecord(score) && ['id', 'name', 'source', 'at'].every((field) => typeof score[field] === 'string')
  const index = scores.findIndex((score) => !isScore(score))
  return index === -1 ? undefined : `scores[${index}] must have an id, a name, a source and a time`
}

function isNumberOrNull(value: unknown): boolean {
  return value === null || typeof value === 'number'
}

function isListOfText(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function isListOfMessages(value: unknown): boolean {
  return Array.isArray(value) && value.every((message) => isRecord(message) && Array.isArray(message.parts))
}
