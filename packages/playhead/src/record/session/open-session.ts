import { trace, type Context } from '@opentelemetry/api'
import { isInsideFlow, type StackFrame } from './call-stack.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { sessionAttributes, type SessionOptions } from './session-attributes.ts'
import { frameOf, settleContext, withFrame, type SessionFrame } from './session-frame.ts'
import { createFrame, isInSession, rootOptions } from '../step/step.ts'

export type OpenSession = { frame: SessionFrame; context: Context }

/** Begins a session; inside another it becomes a part of that one. */
export function openSession(
  runtime: Runtime,
  options: SessionOptions,
  { reach, captureStack }: { reach: SessionFrame['reach']; captureStack: () => StackFrame[] },
): OpenSession {
  // Looking at the stack takes longer than all the rest, and mostly nobody asks.
  let captured: StackFrame[] | undefined
  const stackHere = () => (captured ??= captureStack())
  const context = runtime.place(leaveStrangers(settleContext(runtime.scope.active()), stackHere))
  const stack = reach === 'flow' ? stackHere() : []
  const isPart = isInSession(runtime, context)
  const tags = isPart ? [] : runtime.settings.tags
  const attributes = sessionAttributes(options, tags, runtime.serializeOptions)
  const name = options.name ?? 'session'
  const span = isPart
    ? runtime.tracer().startSpan(name, { attributes }, context)
    : runtime.startSessionSpan(name, { attributes, ...rootOptions(context) }, context)
  const frame = createFrame(runtime, { span, context, isPart, reach, stack })
  if (reach === 'flow')
    queueMicrotask(() => {
      frame.isFresh = false
    })
  return { frame, context: withFrame(context, frame) }
}

/**
 * `startSession` in an `async` function changes the context of the function's caller too. Whoever is called next by that
 * caller finds itself in a session that is none of its business, as in `Promise.all(inputs.map(runAgent))`.
 */
function leaveStrangers(context: Context, stackHere: () => StackFrame[]): Context {
  let left = context
  for (;;) {
    const frame = frameOf(left)
    const mayBeStranger = frame?.reach === 'flow' && trace.getSpan(left) === frame.span
    if (frame === undefined || !mayBeStranger || isInsideFlow(stackHere(), frame.stack, frame.isFresh))
      return left
    left = settleContext(frame.outerContext)
  }
}
