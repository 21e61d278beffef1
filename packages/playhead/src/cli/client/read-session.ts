import { readFile } from 'node:fs/promises'
import { text as readText } from 'node:stream/consumers'
import { ownsError, parseRecordingText, type Session, type Step } from '@playhead/model'
import { CliError, UsageError } from '../terminal/cli-error.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { Api } from './api.ts'
import { explainFileError } from './download.ts'
import { findSessionId } from './sessions.ts'
import type { Settings } from './settings.ts'

/** The part of a session that will be shown; it decides which payloads are fetched. */
export type ShownPart = {
  /** Counted from 1. */
  step?: number
  errorsOnly: boolean
  /** JSON output needs every payload; the text shows previews for steps that succeeded. */
  isJson: boolean
}

/** For longer sessions, the text fetches only the payloads of failed steps. */
const MANY_STEPS = 2000
const FETCHED_SINGLY = 16
const CONCURRENT_FETCHES = 8

type ReadContext = {
  terminal: Terminal
  settings: Settings
  /** True if "last" means the last session that is no re-run. */
  isRerunLeftOut?: boolean
}

/** Reads a session from the server, from a recording file, or from stdin. */
export async function readSession(
  source: string,
  view: ShownPart,
  { terminal, settings, isRerunLeftOut = false }: ReadContext,
): Promise<Session> {
  if (source === '-') return readStdin(terminal)
  if (isRecordingFile(source)) return readRecordingFile(source)
  const api = await Api.connect(settings, 'read')
  return fetchSession(api, await findSessionId(api, source, isRerunLeftOut), view)
}

async function readStdin({ stdin }: Terminal): Promise<Session> {
  if (stdin.isTTY === true)
    throw new UsageError('"-" reads a recording from stdin: cat recording.json | playhead show -')
  return toSession(await readText(stdin), 'The input')
}

/** True for the path of a file, as opposed to a session's id. */
export function isRecordingFile(source: string): boolean {
  return /\.jsonl?$|[/\\]/i.test(source)
}

export async function readRecordingFile(path: string): Promise<Session> {
  try {
    return toSession(await readFile(path, 'utf8'), path)
  } catch (error) {
    throw explainFileError(error, path)
  }
}

function toSession(json: string, name: string): Session {
  const parsed = parseRecordingText(json)
  if ('problem' in parsed) throw new CliError(`${name} is ${parsed.problem}.`)
  return parsed.session
}

async function fetchSession(api: Api, id: string, view: ShownPart): Promise<Session> {
  const path = `/api/sessions/${id}`
  const session = await api.json<Session>(path)
  const needed = payloadsNeeded(session.steps, view)
  if (needed === 'all') return api.json<Session>(path, { query: { payloads: 'all' } })
  if (needed.length === 0) return session
  const fetched = await fetchSteps(api, session.session.id, needed)
  return { session: session.session, steps: session.steps.map((step) => fetched.get(step.id) ?? step) }
}

function payloadsNeeded(steps: readonly Step[], view: ShownPart): 'all' | Step[] {
  const missing = shownSteps(steps, view).filter((step) => !step.hasPayload)
  const needsAll = view.isJson || view.step !== undefined || steps.length <= MANY_STEPS
  if (needsAll) return missing.length > FETCHED_SINGLY ? 'all' : missing
  return missing.filter(ownsError).slice(0, MANY_STEPS)
}

export function shownSteps(steps: readonly Step[], { step, errorsOnly }: ShownPart): Step[] {
  if (step !== undefined) return steps.slice(step - 1, step)
  return errorsOnly ? steps.filter(ownsError) : [...steps]
}

async function fetchSteps(api: Api, sessionId: string, wanted: readonly Step[]): Promise<Map<string, Step>> {
  const fetched = new Map<string, Step>()
  const queue = wanted.values()
  const work = async () => {
    // All workers share one iterator, so each step is fetched once.
    for (const { id } of queue)
      fetched.set(id, await api.json<Step>(`/api/sessions/${sessionId}/steps/${encodeURIComponent(id)}`))
  }
  await Promise.all(Array.from({ length: CONCURRENT_FETCHES }, work))
  return fetched
}
