import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  readDuration,
  requireOptions,
  testTitle,
  type DurationText,
  type Session,
  type Step,
} from '@playhead/model'
import { test as base, type BrowserContext, type Page } from '@playwright/test'
import { flush, sessionHeaders, type SessionView } from 'playhead'
import { isInOwnNetwork } from './record/session/propagate-over-http.ts'
import { readCassetteOption, type CassetteOption } from './testing/cassettes/cassette-option.ts'
import { expectSession } from './testing/matchers/matchers.ts'
import { recordTest, runBody, type SessionScope } from './testing/runs/record-test.ts'
import { toLocation } from './testing/runs/test-location.ts'
import { joinTestRun } from './testing/runs/test-run.ts'
import { fetchSession, openRecording } from './testing/sessions/load-session.ts'
import { replayLink } from './testing/sessions/replay-link.ts'

export * from './testing.ts'

joinTestRun()

const sessions = new WeakMap<BrowserContext, SessionView>()
const scopes = new WeakMap<SessionView, SessionScope>()

/**
 * Waits for what agents did in response to the page's requests, and returns it as a session. The agents' process must
 * record too: to the server in `PLAYHEAD_ENDPOINT`, or to the folder in `PLAYHEAD_RUN_DIR`.
 *
 * @example
 * const session = await agentSession(page)
 * expectSession(session).toHaveCalled("fetch_customer_data")
 */
export async function agentSession(page: Page, options?: FindOptions): Promise<Session> {
  const session = typeof page?.context === 'function' ? sessions.get(page.context()) : undefined
  if (session === undefined)
    throw new Error('agentSession(page) needs a page from the `test` of playhead/playwright.')
  await flush()
  return findAgentSession(session, requireOptions(options))
}

export type SessionFixtures = {
  /** The session of the browser test, including what agents do in response to it. */
  session: SessionView
  /**
   * Runs a function inside the session, so that an agent that it calls in the process of the test is recorded there, and is
   * answered from the test's cassette. Playwright calls tests outside of it.
   */
  inSession: SessionScope
}

export type SessionOptions = {
  /**
   * Answers what agents ask inside `inSession` from a file, and records what the file lacks. Agents behind a page run
   * elsewhere and are not answered.
   */
  cassette: CassetteOption
}

/**
 * Playwright's `test` that records every test as a session. Requests of its pages carry the session, so that the steps of
 * agents behind them join it, and Playwright's report links to the replay.
 */
export const test = base.extend<SessionFixtures & SessionOptions>({
  cassette: [false, { option: true }],
  session: [
    async ({ context, cassette: option }, use, info) => {
      const [file, ...titles] = info.titlePath
      const suite = titles.slice(0, -1).join(' > ')
      const attempt = {
        ...(file !== undefined && { file }),
        ...(suite !== '' && { suite }),
        name: info.title,
        attempt: info.retry + info.repeatEachIndex + 1,
        definedAt: toLocation(info.file, info.line),
      }
      const settings = readCassetteOption(option)
      const cassette = settings && { settings, testFile: info.file, title: testTitle(attempt) }
      let miss: unknown
      await recordTest({ ...attempt, ...(cassette && { cassette }) }, async (session, scope) => {
        sessions.set(context, session)
        scopes.set(session, scope)
        await markRequests(context, sessionHeaders())
        await runBody({ ...attempt, ...(cassette && { cassette }) }, session, () => use(session)).catch(
          (error: unknown) => {
            miss = error
          },
        )
        const link = replayLink({ id: session.id, url: session.url })
        if (link !== '') info.annotations.push({ type: 'replay', description: link })
        if (miss !== undefined) return { error: miss }
        return info.status === info.expectedStatus
          ? undefined
          : { error: info.error ?? new Error(String(info.status)) }
      })
      await flush()
      if (miss !== undefined) throw miss
    },
    { auto: true },
  ],
  inSession: ({ session }, use) => use(scopes.get(session)!),
})

/** Only requests within the own network carry the headers: other servers might reject them, and should not see them. */
async function markRequests(context: BrowserContext, headers: Record<string, string>): Promise<void> {
  await context.route(
    (url) => isInOwnNetwork(url.hostname),
    (route, request) => route.fallback({ headers: { ...request.headers(), ...headers } }),
  )
}

export { expect } from '@playwright/test'
export { expectSession }

type FindOptions = {
  /** How long to wait; "5s" by default. */
  timeout?: DurationText | undefined
}

const DEFAULT_TIMEOUT = '5s'
const POLL_INTERVAL_MS = 60

/** Polls until the session has steps from other processes and all of them have ended. */
async function findAgentSession(view: SessionView, { timeout }: FindOptions): Promise<Session> {
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
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS))
  }
}

function explain(others: readonly Step[]): string {
  if (others.length > 0)
    return 'The agent has not finished. Wait in the test for its output, or allow more time: { timeout: "30s" }.'
  return 'No agent recorded anything for this page. Does its process call playhead.init() and record to the same place as the tests (PLAYHEAD_ENDPOINT or PLAYHEAD_DIR)?'
}

/** Without a server, each process writes its own file for the session. */
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
