import { isRecord, parseJson, toObject, type Step } from '@playhead/model'
import { isOwnFrame } from '../record/value/describe-error.ts'

/** What an action threw when it was recorded. Classes of the host can't be restored, but their name can. */
export function recordedError({ error, attributes }: Step): unknown {
  const recorded = parseJson(attributes?.['playhead.step.error'])
  return isRecord(recorded) ? reviveThrown(recorded) : reviveThrown({ ...error })
}

const errorClasses = {
  Error,
  TypeError,
  RangeError,
  SyntaxError,
  ReferenceError,
  EvalError,
  URIError,
}

/** The types of what is thrown without being an error, and which is described by its JSON. */
const otherTypes: ReadonlySet<unknown> = new Set([
  'number',
  'boolean',
  'undefined',
  'null',
  'Object',
  'Array',
])

function reviveThrown(recorded: Record<string, unknown>): unknown {
  const { type, message, cause, errors } = recorded
  if (type === 'string') return message
  if (type === 'undefined') return undefined
  if (otherTypes.has(type) && typeof message === 'string')
    return parseOther(message) ?? { message, ...toObject(recorded.fields) }
  if (Array.isArray(errors)) return reviveError({ ...recorded, cause: undefined })
  return reviveError({ ...recorded, cause: isRecord(cause) ? reviveThrown(cause) : cause })
}

/** Undefined for a text that is no JSON. */
function parseOther(message: string): unknown {
  try {
    return JSON.parse(message) as unknown
  } catch {
    return undefined
  }
}

/** An error with the recorded name, message, cause and fields such as `code`. */
export function reviveError(recorded: {
  type?: unknown
  message?: unknown
  cause?: unknown
  fields?: unknown
  errors?: unknown
}): Error {
  const name = typeof recorded.type === 'string' ? recorded.type : 'Error'
  const message = typeof recorded.message === 'string' ? recorded.message : ''
  const revived = newError(name, message, recorded.errors)
  define(revived, 'stack', [message === '' ? name : `${name}: ${message}`, ...hostFrames()].join('\n'))
  if (revived.name !== name) define(revived, 'name', name)
  if (recorded.cause !== undefined) define(revived, 'cause', recorded.cause)
  for (const [key, value] of Object.entries(toObject(recorded.fields)))
    if (value !== undefined) Object.assign(revived, { [key]: value })
  return revived
}

function newError(name: string, message: string, errors: unknown): Error {
  if (name === 'AggregateError' && Array.isArray(errors))
    return new AggregateError(errors.filter(isRecord).map(reviveThrown), message)
  return new (errorClasses[name as keyof typeof errorClasses] ?? Error)(message)
}

/** Where the host called what is served. */
function hostFrames(): string[] {
  const { stackTraceLimit } = Error
  const holder: { stack?: string } = {}
  Error.stackTraceLimit = stackTraceLimit + OWN_FRAMES
  Error.captureStackTrace(holder, hostFrames)
  Error.stackTraceLimit = stackTraceLimit
  const frames = (holder.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return frames.filter((line) => !isOwnFrame(line) && !innerFrame.test(line)).slice(0, stackTraceLimit)
}

/** At least as many as there are between the host and here. */
const OWN_FRAMES = 30
const innerFrame = /\(node:|AsyncLocalStorage|^\s+at new Promise /

function define(error: Error, key: string, value: unknown): void {
  Object.defineProperty(error, key, { value, configurable: true, writable: true, enumerable: false })
}
