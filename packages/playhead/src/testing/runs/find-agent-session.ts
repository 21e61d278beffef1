import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { SessionView } from 'playhead'
import type { Session, Step } from '@playhead/model'
import { readDuration, type DurationText } from '../matchers/duration.ts'
import { fetchSession } from '../sessions/fetch-session.ts'
import { openRecording } from '../sessions/open-recording.ts'
import { joinTestRun } from './test-run.ts'

export type FindOptions = {
  /** How long to wait for it; "5s" by default. */
  timeout?: DurationText | undefined
}

const DEFAULT_TIMEOUT = '5s'
const ASK_AGAIN_MS = 60

/** The session with what other processes did in it: there is such a step, and none of them is still running. */
export async function findAgentSession(view: SessionView, { timeout }: FindOptions): Promise<Session> {
  const deadline = Date.now() + readDuration(timeout ?? DEFAULT_TIMEOUT)
  const own = view.toJSON()
  const known = new Set(own.steps.map(({ id }) => id))
  for (;;) {
    const found = await (/^https?:/.test(view.url) ? fetchSession(view.url) : readFolder(own)).catch(
      () => undefined,
    )
    const others = found?.steps.filter(({ id }) => !known.has(id)) ?? []
    if (found !== undefined && others.length > 0 && others.every(({ status }) => status !== 'running'))
      return found
    if (Date.now() > deadline) throw new Error(explain(others))
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS))
  }
}

function explain(others: readonly Step[]): string {
  if (others.length > 0)
    return 'The agent has not finished. Wait in the test for what it shows, or give more time: { timeout: "30s" }.'
  return 'No agent did anything because of this page. Does its process call playhead.init(), and record where the tests do (PLAYHEAD_ENDPOINT, or PLAYHEAD_DIR)?'
}

/** Without a server each process has a file of its own for the session. */
async function readFolder(own: Session): Promise<Session> {
  const { folder } = joinTestRun()
  const names = (await readdir(folder)).filter((name) => name.includes(own.session.id.slice(0, 8)))
  const parts = await Promise.all(
    names.filter((name) => name.endsWith('.jsonl')).map((name) => openRecording(join(folder, name))),
  )
  const steps = new Map<string, Step>(own.steps.map((step) => [step.id, step]))
  for (const part of parts)
    for (const step of part.steps)
      if (step.status !== 'running' || !steps.has(step.id)) steps.set(step.id, step)
  const fullest = parts.toSorted((left, right) => right.steps.length - left.steps.length)[0] ?? own
  return {
    session: { ...fullest.session, url: own.session.url ?? '' },
    steps: [...steps.values()].toSorted(byTime),
  }
}

function byTime(left: Step, right: Step): number {
  return left.startedAt < right.startedAt ? -1 : 1
}
