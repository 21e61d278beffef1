import type { Context } from 'hono'
import { streamSSE, type SSEStreamingApi } from 'hono/streaming'
import type { LiveEvent } from '../api/schemas/responses.ts'
import type { LiveFeed } from './live-feed.ts'

/** Proxies close connections that are silent for a minute. */
const HEARTBEAT_MS = 15_000
/** A viewer that does not read gets this many events queued, then a reset. */
const MAX_QUEUED_EVENTS = 10_000

type Subscription = { project: string; sessionId?: string; isSummariesOnly?: boolean }

/** Responds with the events of a project or session, until the viewer disconnects. */
export function streamEvents(context: Context, live: LiveFeed, subscription: Subscription): Response {
  context.header('cache-control', 'no-store')
  context.header('x-accel-buffering', 'no')
  const lastEventId = context.req.header('last-event-id')
  return streamSSE(context, (output) => relay(output, live, { ...subscription, lastEventId }))
}

async function relay(
  output: SSEStreamingApi,
  live: LiveFeed,
  subscription: Subscription & { lastEventId: string | undefined },
): Promise<void> {
  let queue: { id: string; event: LiveEvent }[] = []
  let wake = () => {}
  const unsubscribe = live.subscribe(subscription, (id, event) => {
    if (subscription.isSummariesOnly === true && event.type === 'step') return
    queue.push({ id, event })
    if (queue.length > MAX_QUEUED_EVENTS) queue = [{ id, event: { type: 'reset' } }]
    wake()
  })
  output.onAbort(() => {
    unsubscribe()
    wake()
  })
  await output.write(': connected\n\n')
  while (!output.aborted && !output.closed) {
    const next = queue.shift()
    if (next === undefined) {
      const isWoken = await wokenBeforeHeartbeat((resolve) => (wake = resolve))
      if (!isWoken) await output.write(': alive\n\n')
      continue
    }
    const { type, ...data } = next.event
    await output.writeSSE({ id: next.id, event: type, data: JSON.stringify(data) })
  }
  unsubscribe()
}

function wokenBeforeHeartbeat(onWake: (wake: () => void) => void): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), HEARTBEAT_MS)
    onWake(() => {
      clearTimeout(timer)
      resolve(true)
    })
  })
}
