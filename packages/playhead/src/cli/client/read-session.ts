import { readFile } from 'node:fs/promises'
import { text as readText } from 'node:stream/consumers'
import { ownsError, parseRecording, type Session, type Step } from '@playhead/model'
import { Api } from './api.ts'
import { CliError, UsageError } from '../terminal/cli-error.ts'
import { findSessionId } from './sessions.ts'
import { explainFileError } from './download.ts'
import type { Settings } from './settings.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** What will be looked at, which says whose payloads are needed. */
export type SessionView = {
  /** The first is 1. */
  step?: number
  errorsOnly: boolean
  /** JSON holds every payload of what it shows; in the text, previews do for steps that went well. */
  isJson: boolean
}

/** Above this many steps only the payloads of failed ones are fetched for the text. */
const MANY_STEPS = 2000
const FETCHED_ONE_BY_ONE = 16
const FETCHED_AT_ONCE = 8

/** A session of the server, of a recording file, or of a recording on stdin. */
export async function readSession(
  source: string,
  view: SessionView,
  { terminal, settings }: { terminal: Terminal; settings: Settings },
): Promise<Session> {
  if (source === '-') return readStdin(terminal)
  if (/\.jsonl?$|[/\\]/i.test(source)) return readRecordingFile(source)
  const api = await Api.connect(settings, 'read')
  return fetchSession(api, await findSessionId(api, source), view)
}

async function readStdin({ stdin }: Terminal): Promise<Session> {
  if (stdin.isTTY === true)
    throw new UsageError('"-" reads a recording from a pipe: cat recording.json | playhead show -')
  return toSession(await readText(stdin), 'What was piped in')
}

async function readRecordingFile(path: string): Promise<Session> {
  try {
    return toSession(await readFile(path, 'utf8'), path)
  } catch (error) {
    throw explainFileError(error, path)
  }
}

function toSession(json: string, name: string): Session {
  let content: unknown
  try {
    content = JSON.parse(json.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new CliError(`${name} is not JSON: ${(error as Error).message}`, { cause: error })
  }
  const parsed = parseRecording(content)
  if ('problem' in parsed) throw new CliError(`${name} is ${parsed.problem}.`)
  return parsed.session
}

async function fetchSession(api: Api, id: string, view: SessionView): Promise<Session> {
  const path = `/api/sessions/${id}`
  const session = await api.json<Session>(path)
  const needed = payloadsNeeded(session.steps, view)
  if (needed === 'all') return api.json<Session>(path, { query: { payloads: 'all' } })
  if (needed.length === 0) return session
  const fetched = await fetchSteps(api, session.session.id, needed)
  return { session: session.session, steps: session.steps.map((step) => fetched.get(step.id) ?? step) }
}

function payloadsNeeded(steps: readonly Step[], view: SessionView): 'all' | Step[] {
  const missing = shownSteps(steps, view).filter((step) => !step.hasPayload)
  const isAllWanted = view.isJson || view.step !== undefined || steps.length <= MANY_STEPS
  if (isAllWanted) return missing.length > FETCHED_ONE_BY_ONE ? 'all' : missing
  return missing.filter(ownsError).slice(0, MANY_STEPS)
}

export function shownSteps(steps: readonly Step[], { step, errorsOnly }: SessionView): Step[] {
  if (step !== undefined) return steps.slice(step - 1, step)
  return errorsOnly ? steps.filter(ownsError) : [...steps]
}

async function fetchSteps(api: Api, sessionId: string, wanted: readonly Step[]): Promise<Map<string, Step>> {
  const fetched = new Map<string, Step>()
  const queue = wanted.values()
  const work = async () => {
    // The workers share one iterator: each takes the next step that none has taken.
    for (const { id } of queue)
      fetched.set(id, await api.json<Step>(`/api/sessions/${sessionId}/steps/${encodeURIComponent(id)}`))
  }
  await Promise.all(Array.from({ length: FETCHED_AT_ONCE }, work))
  return fetched
}
