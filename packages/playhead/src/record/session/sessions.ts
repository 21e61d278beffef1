import { parseJson, toObject } from '@playhead/model'
import { readAllFields, readField, toNames, toText } from '../value/host-value.ts'
import { observeResult } from '../value/observe-result.ts'
import { summarizeError } from '../value/describe-error.ts'
import { activeRecorder, requireRecorder } from './active-recorder.ts'
import { captureStack } from './call-stack.ts'
import type { Recorder } from './recorder.ts'
import type { SessionOptions } from './session-attributes.ts'
import { skipEndedSessions, type SessionFrame } from './session-frame.ts'
import { headersOfContext, type SessionHeaders } from './session-headers.ts'
import { closeSession, openSession, type OpenSession, type SessionEnd } from './session-lifecycle.ts'
import { emptyView, type SessionView } from './session-view.ts'

/** How a session ended; case does not matter. */
export type EndStateWord = 'Success' | 'Fail' | 'Indeterminate' | (string & {})

export type EndSessionOptions = {
  /** Why it ended this way, for example what went wrong. */
  reason?: string | Error | undefined
}

/**
 * Starts a session for the rest of this async flow, across awaits, timers and callbacks, until `endSession`.
 *
 * Inside another session it becomes a part of that one: the same session, with a step around everything until
 * `endSession`. Sessions that are started side by side, as in `Promise.all(inputs.map(runAgent))`, stay separate. Prefer
 * `withSession` where sessions run concurrently.
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
  const recorder = requireRecorder('startSession')
  return (
    recorder?.guard(() => {
      const { frame, context } = openSession(recorder, options, {
        reach: 'flow',
        captureStack: () => captureStack(startSession),
      })
      recorder.scope.enter(context)
      recorder.leaveSession(undefined)
      return recorder.viewOf(frame.record)
    }) ?? emptyView
  )
}

/**
 * Ends the session that `startSession` started. Returns at once; call `flush()` to wait for delivery.
 *
 * @example
 * await playhead.endSession("Fail", { reason: "the customer could not be found" })
 */
export function endSession(
  endState: EndStateWord = 'Indeterminate',
  options: EndSessionOptions = {},
): Promise<void> {
  const recorder = requireRecorder('endSession')
  recorder?.guard(() => {
    const frame = recorder.currentFrame() ?? onlyOpenFlow(recorder)
    if (frame === undefined)
      return recorder.reporter.once('endSession', 'endSession() was called, but no session is open here.')
    const reason = readField(options, 'reason')
    const error = typeof reason === 'object' && reason !== null ? reason : undefined
    closeSession(recorder, frame, {
      endState: toText(endState) ?? '',
      reason: error === undefined ? toText(reason) : summarizeError(error),
      error,
    })
  })
  return Promise.resolve()
}

/**
 * Runs a function in a session. If it returns, the session is a Success. If it throws, the session is a Fail with the
 * error as its reason, and the error is rethrown.
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
  maybeFn?: (session: SessionView) => Result,
): Result {
  const options = typeof optionsOrFn === 'function' ? {} : optionsOrFn
  const fn = typeof optionsOrFn === 'function' ? optionsOrFn : maybeFn!
  const recorder = requireRecorder('withSession')
  if (typeof fn !== 'function') {
    recorder?.reporter.once('withSession', 'withSession() takes a function to run; none was given.')
    return undefined as Result
  }
  const opened = recorder?.guard(() =>
    openSession(recorder, options, { reach: 'scope', captureStack: () => captureStack(withSession) }),
  )
  if (recorder === undefined || opened === undefined) return fn(emptyView)
  return runInSession(recorder, opened, fn)
}

function runInSession<Result>(
  recorder: Recorder,
  { frame, context }: OpenSession,
  fn: (session: SessionView) => Result,
): Result {
  const close = (end: SessionEnd) => recorder.guard(() => closeSession(recorder, frame, end))
  const fail = (error: unknown) => close({ endState: 'Fail', reason: summarizeError(error), error })
  let result: Result
  try {
    result = recorder.scope.run(context, fn, recorder.viewOf(frame.record))
  } catch (error) {
    fail(error)
    throw error
  } finally {
    recorder.leaveSession(frame.record)
  }
  return observeResult(result, {
    onReturn: () => close({ endState: 'Success' }),
    onThrow: fail,
    resume: (callback) => recorder.scope.run(context, callback),
    onYield: () => undefined,
  }) as Result
}

/**
 * Returns the current session, or with an id one that this process recorded. After a session has ended, and outside of
 * any other, that is still the ended one. If there is none, its `id` is empty.
 *
 * @example
 * const { actionEvents, cost, url } = playhead.getSession()
 */
export function getSession(): SessionView
export function getSession(id: string): SessionView | undefined
export function getSession(id?: string): SessionView | undefined {
  const recorder = activeRecorder()
  const found = recorder?.guard(() => {
    const record =
      id === undefined
        ? (recorder.currentRecord() ?? onlyOpenFlow(recorder)?.record)
        : recorder.findRecord(id)
    return record === undefined ? undefined : recorder.viewOf(record)
  })
  return found ?? (id === undefined ? emptyView : undefined)
}

/** A session that was started in another async flow, as in an `async` hook of a test runner. */
function onlyOpenFlow(recorder: Recorder): SessionFrame | undefined {
  const flows = [...recorder.openFrames].filter((frame) => frame.reach === 'flow')
  return flows.length === 1 ? flows[0] : undefined
}

/**
 * Adds tags to the current session.
 *
 * @example
 * playhead.addTags("refund", "vip")
 */
export function addTags(...tags: readonly (string | readonly string[])[]): void {
  const recorder = activeRecorder()
  recorder?.guard(() => {
    recorder.setSessionAttributes((root) => {
      const known = (root.attributes['playhead.session.tags'] ?? []) as string[]
      return { 'playhead.session.tags': [...new Set([...known, ...tags.flatMap(toNames)])] }
    })
  })
}

/**
 * Adds metadata to the current session. Existing keys that are not given stay as they are.
 *
 * @example
 * playhead.setMetadata({ plan: "pro", region: "eu" })
 */
export function setMetadata(metadata: Readonly<Record<string, unknown>>): void {
  const recorder = activeRecorder()
  recorder?.guard(() => {
    recorder.setSessionAttributes((root) => {
      const known = root.attributes['playhead.session.metadata']
      const merged = { ...toObject(parseJson(known)), ...readAllFields(metadata) }
      return { 'playhead.session.metadata': recorder.serialize(merged).text }
    })
  })
}

/**
 * The W3C headers that make the steps of another process part of the current session. Requests inside your own network
 * carry them automatically; use this for message queues, sockets and other transports.
 *
 * @example
 * queue.send({ body, headers: playhead.sessionHeaders() })
 */
export function sessionHeaders(): SessionHeaders | Record<string, never> {
  const recorder = activeRecorder()
  return recorder?.guard(() => headersOfContext(skipEndedSessions(recorder.scope.active()))) ?? {}
}

/**
 * The environment variables that make the sessions of a child process part of the current session.
 *
 * @example
 * spawn("node", ["tool.js"], { env: { ...process.env, ...playhead.sessionEnvironment() } })
 */
export function sessionEnvironment(): { TRACEPARENT: string; BAGGAGE: string } | Record<string, never> {
  const { traceparent, baggage } = sessionHeaders()
  return traceparent === undefined ? {} : { TRACEPARENT: traceparent, BAGGAGE: baggage }
}
