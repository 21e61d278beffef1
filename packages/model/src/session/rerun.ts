import { isRecord } from '../json/attribute-value.ts'
import { shortSessionId, type SessionSummary } from './session.ts'

export const lanes = ['tape', 'live-tools', 'live-model', 'live', 'fork'] as const

/**
 * What answers a run that is repeated: `tape` answers everything, `live-tools` and `live-model` run one side for real,
 * `live` both. A `fork` follows the tape up to a step and is live from there.
 */
export type Lane = (typeof lanes)[number]

/** What a fork changes at its step: the result or the arguments of an action, or the request of a model call. */
export type ForkEdit = {
  result?: unknown
  args?: unknown
  system?: string
  prompt?: string
  model?: string
}

const MAX_EDIT_LENGTH = 256 * 1024

/** Reads an edit that came as JSON from outside; undefined if it is none. Unknown fields are dropped. */
export function readForkEdit(text: string): ForkEdit | undefined {
  if (text.length > MAX_EDIT_LENGTH) return undefined
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isRecord(parsed)) return undefined
  const { system, prompt, model } = parsed
  return {
    ...('result' in parsed && { result: parsed.result }),
    ...('args' in parsed && { args: parsed.args }),
    ...(typeof system === 'string' && { system }),
    ...(typeof prompt === 'string' && { prompt }),
    ...(typeof model === 'string' && { model }),
  }
}

/** The session that a re-run ran again, and how. */
export type RerunFacts = Pick<SessionSummary, 'parentStepId' | 'lane' | 'edit'> & { parentId: string }

/** The tag of every re-run. */
const RERUN_TAG = 'rerun'

type Choice = string | readonly string[] | undefined
type RerunFilter = { reruns?: Choice; parent?: Choice; lane?: Choice; tag?: Choice }

/**
 * Whether a filter is meant to find re-runs: it says so, or names what only they have. Re-runs are tries, so statistics,
 * checks and "the last passing session" leave them out unless somebody asks for them.
 */
export function asksForReruns({ reruns, parent, lane, tag }: RerunFilter): boolean {
  if (reruns !== undefined) return reruns === 'include'
  return parent !== undefined || lane !== undefined || [tag].flat().includes(RERUN_TAG)
}

const laneWords: Record<Lane, string> = {
  tape: '',
  'live-tools': ', live tools',
  'live-model': ', live model',
  live: ', live model and tools',
  fork: '',
}

/** "fork of s_1a2b3c4d", "re-run of s_1a2b3c4d, live model". Undefined for a session that is no re-run. */
export function describeRerun({
  parentId,
  lane = 'tape',
  edit,
}: Pick<SessionSummary, 'parentId' | 'lane' | 'edit'>): string | undefined {
  if (parentId === undefined) return undefined
  const parent = shortSessionId(parentId)
  if (lane === 'fork') return `fork of ${parent}${edit === undefined ? ', unchanged' : ''}`
  return `re-run of ${parent}${laneWords[lane]}`
}
