import { captureStack } from './call-stack.ts'
import {
  closeSession,
  messageOf,
  type SessionEnd,
  openSession,
  type OpenSession,
} from './session-lifecycle.ts'
import { emptyView, type SessionView } from './session-view.ts'
import { observeResult } from '../value/observe-result.ts'
import { activeRuntime, requireRuntime } from './active-runtime.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { SessionOptions } from './session-attributes.ts'
import { type SessionFrame, settleContext } from './session-frame.ts'
import { headersOfContext, type SessionHeaders } from './session-headers.ts'

/** How a session ended; any case will do. */
export type EndStateWord = 'Success' | 'Fail' | 'Indeterminate' | (string & {})

export type EndSessionOptions = {
  /** Why it ended so: what went wrong, or why nobody can tell. */
  reason?: string | Error | undefined
}

/**
 * Starts a session for the rest of this flow of calls, across its awaits, timers and callbacks; `endSession` ends it.
 *
 * Started inside another session it becomes a part of that one: the same session, with a step around what happens until
 * `endSession`. Two that are started side by side, as by `Promise.all(inputs.map(runAgent))`, are two sessions. Where
 * sessions run at the same time, `withSession` is the safer way to write it.
 *
 * @example
 * playhead.startSession({ tags: ["support", "v2.1"] })
 * try {
 *   const reply = await answer(message)
 *   await playhead.endSession("Success")
 *   return reply
 * } catch (error) {
 *   await playhead.endSession("Fail", { reason: String(error) })
 *   throw error
 * }
 */
export function startSession(options: SessionOptions = {}): SessionView {
  const runtime = requireRuntime('startSession')
  return (
    runtime?.guard(() => {
      const { frame, context } = openSession(runtime, options, {
        reach: 'flow',
        captureStack: () => captureStack(startSession),
      })
      runtime.scope.enter(context)
      return runtime.viewOf(frame.record)
    }) ?? emptyView
  )
}

/**
 * Ends the session that `startSession` started. It returns at once; `flush()` waits for the delivery.
 *
 * @example
 * await playhead.endSession("Fail", { reason: "the customer could not be found" })
 */
export function endSession(
  endState: EndStateWord = 'Indeterminate',
  options: EndSessionOptions = {},
): Promise<void> {
  const runtime = requireRuntime('endSession')
  runtime?.guard(() => {
    const frame = runtime.currentFrame() ?? onlyOpenFlow(runtime)
    if (frame === undefined)
      return runtime.reporter.once('endSession', 'endSession() was called where no session is open.')
    const { reason } = options
    const error = typeof reason === 'object' ? reason : undefined
    closeSession(runtime, frame, {
      endState: String(endState),
      reason: error === undefined ? reason?.toString() : messageOf(error),
      error,
    })
  })
  return Promise.resolve()
}

/**
 * Runs a function in a session of its own. What it returns is returned, and the session is a Success; what it throws is
 * thrown again, and the session is a Fail with the error as its reason.
 *
 * @example
 * const reply = await playhead.withSession({ name: "support", tags: ["v2.1"] }, async (session) => {
 *   const answer = await runAgent(message)
 *   console.log(session.url)
 *   return answer
 * })
 */
export function withSession<Result>(fn: (session: SessionView) => Result): Result
export function withSession<Result>(options: SessionOptions, fn: (session: SessionView) => Result): Result
export function withSession<Result>(
  optionsOrFn: SessionOptions | ((session: SessionView) => Result),
  given?: (session: SessionView) => Result,
): Result {
  const options = typeof optionsOrFn === 'function' ? {} : optionsOrFn
  const fn = typeof optionsOrFn === 'function' ? optionsOrFn : given!
  const runtime = requireRuntime('withSession')
  const opened = runtime?.guard(() =>
    openSession(runtime, options, { reach: 'scope', captureStack: () => captureStack(withSession) }),
  )
  if (runtime === undefined || opened === undefined) return fn(emptyView)
  return runInSession(runtime, opened, fn)
}

function runInSession<Result>(
  runtime: Runtime,
  { frame, context }: OpenSession,
  fn: (session: SessionView) => Result,
): Result {
  const close = (end: SessionEnd) => runtime.guard(() => closeSession(runtime, frame, end))
  const fail = (error: unknown) => close({ endState: 'Fail', reason: messageOf(error), error })
  let result: Result
  try {
    result = runtime.scope.run(context, fn, runtime.viewOf(frame.record))
  } catch (error) {
    fail(error)
    throw error
  }
  return observeResult(result, {
    onReturn: () => close({ endState: 'Success' }),
    onThrow: fail,
    resume: (callback) => runtime.scope.run(context, callback),
    onYield: () => undefined,
  }) as Result
}

/**
 * The session that this code runs in; with an id, one that this process recorded. After a session ended, and outside of any
 * other, it is still the one that ended. Where there is none, its `id` is empty.
 *
 * @example
 * const { actionEvents, cost, url } = playhead.getSession()
 */
export function getSession(): SessionView
export function getSession(id: string): SessionView | undefined
export function getSession(id?: string): SessionView | undefined {
  const runtime = activeRuntime()
  const found = runtime?.guard(() => {
    const record =
      id === undefined ? (runtime.currentRecord() ?? onlyOpenFlow(runtime)?.record) : runtime.findRecord(id)
    return record === undefined ? undefined : runtime.viewOf(record)
  })
  return found ?? (id === undefined ? emptyView : undefined)
}

/** A session that was started in a flow that this one is not part of, as in an `async` hook of a test runner. */
function onlyOpenFlow(runtime: Runtime): SessionFrame | undefined {
  const flows = [...runtime.openFrames].filter((frame) => frame.reach === 'flow')
  return flows.length === 1 ? flows[0] : undefined
}

/**
 * Adds tags to the session that this code runs in.
 *
 * @example
 * playhead.addTags("refund", "vip")
 */
export function addTags(...tags: readonly (string | readonly string[])[]): void {
  const runtime = activeRuntime()
  runtime?.guard(() => {
    runtime.describeSession((span) => {
      const known = (span.attributes['playhead.session.tags'] ?? []) as string[]
      return { 'playhead.session.tags': [...new Set([...known, ...tags.flat()])] }
    })
  })
}

/**
 * Notes something about the session that this code runs in; what was noted before under other names stays.
 *
 * @example
 * playhead.setMetadata({ plan: "pro", region: "eu" })
 */
export function setMetadata(metadata: Readonly<Record<string, unknown>>): void {
  const runtime = activeRuntime()
  runtime?.guard(() => {
    runtime.describeSession((span) => {
      const known = span.attributes['playhead.session.metadata']
      const merged = { ...(typeof known === 'string' ? (JSON.parse(known) as object) : {}), ...metadata }
      return { 'playhead.session.metadata': runtime.serialize(merged).text }
    })
  })
}

/**
 * The W3C headers that make what another process does part of the session that this code runs in. Requests inside the own
 * network carry them by themselves; this is for message queues, sockets and other ways.
 *
 * @example
 * queue.send({ body, headers: playhead.sessionHeaders() })
 */
export function sessionHeaders(): SessionHeaders | Record<string, never> {
  const runtime = activeRuntime()
  return runtime?.guard(() => headersOfContext(settleContext(runtime.scope.active()))) ?? {}
}

/**
 * The same for a child process: its sessions become parts of this one.
 *
 * @example
 * spawn("node", ["tool.js"], { env: { ...process.env, ...playhead.sessionEnvironment() } })
 */
export function sessionEnvironment(): { TRACEPARENT: string; BAGGAGE: string } | Record<string, never> {
  const { traceparent, baggage } = sessionHeaders()
  return traceparent === undefined ? {} : { TRACEPARENT: traceparent, BAGGAGE: baggage }
}
