import * as types from 'node:util/types'
import { truncateAtWord, serializeValue, type SerializeOptions } from './serialize-value.ts'
import { constructorName, findDataProperty } from './describe-object.ts'

/** An error as it is recorded; the model parses it into a `StepError`. */
export type DescribedError = {
  type: string
  message: string
  stack?: string
  cause?: DescribedError
  /** Its own properties that are text, numbers or flags: `code`, `status`. */
  fields?: Record<string, unknown>
  /** The errors inside an `AggregateError`. */
  errors?: DescribedError[]
  /** True if a step inside this one recorded the same error object. */
  isPropagated?: true
}

const MAX_CAUSES = 8
const MAX_ERRORS = 10
const MAX_STACK_LENGTH = 8000
const MAX_MESSAGE_LENGTH = 20_000

/** Describes anything that was thrown, error or not, without running its code. */
export function describeError(thrown: unknown, options: SerializeOptions, depth = 0): DescribedError {
  try {
    return describeThrown(thrown, options, depth)
  } catch {
    return { type: typeof thrown, message: '[not readable]' }
  }
}

function describeThrown(thrown: unknown, options: SerializeOptions, depth: number): DescribedError {
  if (typeof thrown !== 'object' || thrown === null || types.isProxy(thrown))
    return describeOther(thrown, options)
  const errors = findDataProperty(thrown, 'errors')
  const inner = Array.isArray(errors) && depth < MAX_CAUSES ? describeAll(errors, options, depth) : undefined
  const described: DescribedError = { type: typeOf(thrown), message: messageOf(thrown, inner, options) }
  const fields = fieldsOf(thrown, options)
  if (fields !== undefined) described.fields = fields
  const stack = stackOf(thrown, options)
  if (stack !== undefined) described.stack = stack
  const cause = findDataProperty(thrown, 'cause')
  if (cause !== undefined && cause !== null && depth < MAX_CAUSES)
    described.cause = describeError(cause, options, depth + 1)
  if (inner !== undefined && inner.length > 0) {
    described.errors = inner
    described.cause ??= inner[0]!
  }
  return described
}

function describeAll(errors: unknown[], options: SerializeOptions, depth: number): DescribedError[] {
  return errors.slice(0, MAX_ERRORS).map((error) => describeError(error, options, depth + 1))
}

function describeOther(thrown: unknown, options: SerializeOptions): DescribedError {
  const text =
    typeof thrown === 'string' ? thrown : serializeValue(thrown, { ...options, maxLength: 1000 }).text
  return { type: thrown === null ? 'null' : typeof thrown, message: visibleText(text, options) }
}

const MAX_FIELDS = 10
const MAX_FIELD_LENGTH = 200
const otherFields: ReadonlySet<string> = new Set(['name', 'message', 'stack', 'cause', 'errors'])

/** Hosts decide by these whether to try again. */
function fieldsOf(error: object, options: SerializeOptions): Record<string, unknown> | undefined {
  // Without a message, the message is its JSON.
  if (typeof readField(error, 'message') !== 'string') return undefined
  const fields = Object.entries(Object.getOwnPropertyDescriptors(error)).flatMap(
    ([key, { enumerable, value }]) =>
      enumerable === true && !otherFields.has(key) && isField(value, options) && !options.isSecretKey(key)
        ? [[key, value as unknown] as const]
        : [],
  )
  return fields.length === 0 ? undefined : Object.fromEntries(fields.slice(0, MAX_FIELDS))
}

function isField(value: unknown, { isContentKept }: SerializeOptions): boolean {
  if (typeof value === 'string') return isContentKept && value.length <= MAX_FIELD_LENGTH
  return Number.isFinite(value) || typeof value === 'boolean'
}

/** Instances of `class ValueError extends Error` still have the name "Error". */
function typeOf(error: object): string {
  const name = readField(error, 'name')
  if (typeof name === 'string' && name !== '' && name !== 'Error') return name
  return constructorName(error)
}

/** The name and message of an AbortError or TimeoutError are getters of `DOMException`, which are safe to run. */
function readField(error: object, field: 'name' | 'message'): unknown {
  const own = findDataProperty(error, field)
  if (!(error instanceof DOMException)) return own
  try {
    return Reflect.get(DOMException.prototype, field, error)
  } catch {
    return own
  }
}

function messageOf(error: object, inner: DescribedError[] | undefined, options: SerializeOptions): string {
  const message = readField(error, 'message')
  if (typeof message === 'string' && message !== '') return visibleText(message, options)
  if (inner !== undefined && inner.length > 0)
    return `${inner.length} errors: ${inner.map((one) => one.message).join('; ')}`
  if (types.isNativeError(error)) return ''
  return serializeValue(error, { ...options, maxLength: 1000 }).text
}

/** A message may be content; its length is not. */
function visibleText(text: string, { isContentKept }: SerializeOptions): string {
  return isContentKept ? truncateAtWord(text, MAX_MESSAGE_LENGTH) : `[${text.length} characters]`
}

function stackOf(error: object, { isContentKept }: SerializeOptions): string | undefined {
  if (!types.isNativeError(error)) return undefined
  let stack: unknown
  try {
    ;({ stack } = error)
  } catch {
    return undefined
  }
  if (typeof stack !== 'string') return undefined
  const lines = stack.split('\n').filter((line) => {
    if (!/^\s+at /.test(line)) return isContentKept
    return !isOwnFrame(line)
  })
  return truncateAtWord(lines.join('\n'), MAX_STACK_LENGTH)
}

/** The folder of our sources in the repository. The package is recognised by its name, wherever it is installed. */
const sources = import.meta.url.endsWith('/src/record/value/describe-error.ts')
  ? decodeURIComponent(new URL('../../', import.meta.url).pathname)
  : undefined

/** The SDK calls the functions that it records, but nobody looks for a bug in its frames. */
export function isOwnFrame(line: string): boolean {
  if (/[\\/]node_modules[\\/]playhead[\\/]/.test(line)) return true
  return sources !== undefined && line.includes(sources) && !/\.test\.[cm]?[jt]sx?:/.test(line)
}

/** An error in one line: its name and message. */
export function summarizeError(error: unknown): string {
  try {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    return truncateAtWord(text, MAX_MESSAGE_LENGTH)
  } catch {
    return 'an unreadable error'
  }
}
