import { recordedResult, type Step } from '@playhead/model'
import type { TapedResult } from '../record/session/active-tape.ts'

type AnyFunction = (...args: never[]) => unknown

/** What the function returned or threw when it was recorded, in the same form: value, promise or generator. */
export function reviveResult(step: Step, fn: AnyFunction): TapedResult {
  const shape = shapeOf(step, fn)
  if (step.status === 'error') return reviveError(step, shape)
  const value = recordedResult(step)
  switch (shape) {
    case 'value':
      return { value }
    case 'promise':
      return { value: Promise.resolve(value) }
    case 'generator':
      return { value: generate(step, value) }
    case 'async-generator':
      return { value: generateAsync(step, value) }
  }
}

type Shape = 'value' | 'promise' | 'generator' | 'async-generator'

const shapes: ReadonlySet<unknown> = new Set(['value', 'promise', 'generator', 'async-generator'])

/** Older recordings do not say; then the function itself does, or the time that it took. */
function shapeOf({ attributes, durationMs }: Step, fn: AnyFunction): Shape {
  const recorded = attributes?.['playhead.action.shape']
  if (shapes.has(recorded)) return recorded as Shape
  const kind = Object.prototype.toString.call(fn)
  if (kind === '[object AsyncGeneratorFunction]') return 'async-generator'
  if (kind === '[object GeneratorFunction]') return 'generator'
  return kind === '[object AsyncFunction]' || (durationMs ?? 0) >= 1 ? 'promise' : 'value'
}

const errorClasses = { Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError }

/** An error with the recorded name, message and code. Classes of the host can't be restored. */
function reviveError({ error, attributes }: Step, shape: Shape): TapedResult {
  const { type = 'Error', message = '' } = error ?? {}
  const ErrorClass = errorClasses[type as keyof typeof errorClasses] ?? Error
  const revived = new ErrorClass(message)
  if (revived.name !== type) Object.defineProperty(revived, 'name', { value: type, configurable: true })
  const code = attributes?.['playhead.error.code']
  if (code !== undefined) Object.assign(revived, { code })
  if (shape === 'value' || shape === 'generator') return { error: revived }
  const rejected = Promise.reject(revived)
  // The host handles it; until then it must not count as unhandled.
  rejected.catch(() => undefined)
  return { value: rejected }
}

function piecesOf({ streaming }: Step, value: unknown): { yielded: unknown[]; returned: unknown } {
  const chunks = streaming?.chunks?.map(([, text]) => text)
  if (chunks !== undefined && chunks.join('') === value) return { yielded: chunks, returned: undefined }
  if (Array.isArray(value)) return { yielded: value, returned: undefined }
  if (typeof value === 'object' && value !== null && 'yielded' in value && Array.isArray(value.yielded))
    return { yielded: value.yielded, returned: 'returned' in value ? value.returned : undefined }
  return { yielded: value === undefined ? [] : [value], returned: undefined }
}

function* generate(step: Step, value: unknown): Generator {
  const { yielded, returned } = piecesOf(step, value)
  yield* yielded
  return returned
}

async function* generateAsync(step: Step, value: unknown): AsyncGenerator {
  const { yielded, returned } = piecesOf(step, value)
  yield* yielded
  return returned
}
