import { test as base, type BrowserContext, type Page } from '@playwright/test'
import { flush, sessionHeaders, type SessionView } from 'playhead'
import type { Session } from '@playhead/model'
import { isInOwnNetwork } from './record/own-network.ts'
import { findAgentSession, type FindOptions } from './testing/runs/find-agent-session.ts'
import { recordTest } from './testing/runs/record-test.ts'
import { replayLink } from './testing/sessions/replay-link.ts'
import { expectSession } from './testing/matchers/expect-session.ts'
import { joinTestRun } from './testing/runs/test-run.ts'

export * from './testing.ts'

joinTestRun()

const sessions = new WeakMap<BrowserContext, SessionView>()

/**
 * What the agents did that the page's requests caused, once it can be read. The process that the agents run in has to
 * record as well: to the server that `PLAYHEAD_ENDPOINT` names, or to the folder in `PLAYHEAD_RUN_DIR`.
 *
 * @example
 * const session = await agentSession(page)
 * expectSession(session).toHaveCalled("fetch_customer_data")
 */
export async function agentSession(page: Page, options: FindOptions = {}): Promise<Session> {
  const session = sessions.get(page.context())
  if (session === undefined)
    throw new Error('Use the `test` of playhead/playwright: its pages mark their requests.')
  await flush()
  return findAgentSession(session, options)
}

export type SessionFixtures = {
  /** The session of the browser test; what agents do because of it is part of it. */
  session: SessionView
}

/**
 * Playwright's `test`, whose pages mark the requests that they make, so that what agents do because of them is found again.
 * The report of a test links its replay.
 */
export const test = base.extend<SessionFixtures>({
  session: [
    async ({ context }, use, info) => {
      const [file, ...titles] = info.titlePath
      const suite = titles.slice(0, -1).join(' > ')
      const attempt = {
        ...(file !== undefined && { file }),
        ...(suite !== '' && { suite }),
        name: info.title,
        attempt: info.retry + info.repeatEachIndex + 1,
      }
      await recordTest(attempt, async (session) => {
        sessions.set(context, session)
        await markRequests(context, sessionHeaders())
        await use(session)
        const link = replayLink({ id: session.id, url: session.url })
        if (link !== '') info.annotations.push({ type: 'replay', description: link })
        return info.status === info.expectedStatus
          ? undefined
          : { error: info.error ?? new Error(String(info.status)) }
      })
      await flush()
    },
    { auto: true },
  ],
})

/** Only requests inside the own network are marked: other servers would refuse, or learn, what is none of their business. */
async function markRequests(context: BrowserContext, headers: Record<string, string>): Promise<void> {
  await context.route(
    (url) => isInOwnNetwork(url.hostname),
    (route, request) => route.fallback({ headers: { ...request.headers(), ...headers } }),
  )
}

export { expect } from '@playwright/test'
export { expectSession }
