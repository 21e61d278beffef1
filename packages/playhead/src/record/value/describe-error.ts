import * as types from 'node:util/types'
import { cutAtWord, serializeValue, type SerializeOptions } from './serialize-value.ts'
import { constructorName, findDataProperty } from './describe-object.ts'

/** An error as it is recorded; the model reads it back as `StepError`. */
export type DescribedError = {
  type: string
  message: string
  stack?: string
  cause?: DescribedError
  /** The errors inside an `AggregateError`. */
  errors?: DescribedError[]
  /** True when a step inside this one recorded the same error object. */
  isPropagated?: true
}

const MAX_CAUSES = 8
const MAX_ERRORS = 10
const MAX_STACK_LENGTH = 8000
const MAX_MESSAGE_LENGTH = 20_000

/** Describes whatever was thrown, an error or not, without running its code. */
export function describeError(thrown: unknown, options: SerializeOptions, depth = 0): DescribedError {
  if (typeof thrown !== 'object' || thrown === null || types.isProxy(thrown))
    return describeOther(thrown, options)
  const errors = findDataProperty(thrown, 'errors')
  const inner = Array.isArray(errors) && depth < MAX_CAUSES ? describeAll(errors, options, depth) : undefined
  const described: DescribedError = { type: typeOf(thrown), message: messageOf(thrown, inner, options) }
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
  return { type: thrown === null ? 'null' : typeof thrown, message: shown(text, options) }
}

/** `class ValueError extends Error` is a ValueError although its name is still "Error". */
function typeOf(error: object): string {
  const name = findDataProperty(error, 'name')
  if (typeof name === 'string' && name !== '' && name !== 'Error') return name
  return constructorName(error)
}

function messageOf(error: object, inner: DescribedError[] | undefined, options: SerializeOptions): string {
  const message = findDataProperty(error, 'message')
  if (typeof message === 'string' && message !== '') return shown(message, options)
  if (inner !== undefined && inner.length > 0)
    return `${inner.length} errors: ${inner.map((one) => one.message).join('; ')}`
  if (types.isNativeError(error)) return ''
  return serializeValue(error, { ...options, maxLength: 1000 }).text
}

/** What a message says may be content; that there was one is not. */
function shown(text: string, { isContentKept }: SerializeOptions): string {
  return isContentKept ? cutAtWord(text, MAX_MESSAGE_LENGTH) : `[${text.length} characters]`
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
  const lines = isContentKept
    ? stack
    : stack
        .split('\n')
        .filter((line) => /^\s+at /.test(line))
        .join('\n')
  return cutAtWord(lines, MAX_STACK_LENGTH)
}
