import { recordedResult, recordedTypes, stepTitle, type Step } from '@playhead/model'
import type { TapedAction } from '../record/session/active-tape.ts'
import { recordedError } from './revive-error.ts'
import { reviveValue } from './revive-value.ts'

type AnyFunction = (...args: never[]) => unknown

export type ReviveOptions = {
  /** The host's way from data to an instance of its class, as declared with `recordTool`. */
  revive?: ((value: unknown) => unknown) | undefined
  /** Hears that the host called a function inside the result; functions are not recorded. */
  onMiss?: ((sentence: string) => void) | undefined
}

/** What the function returned or threw when it was recorded, in the same form: value, promise or generator. */
export function reviveResult(
  step: Step,
  fn: AnyFunction,
  { revive, onMiss }: ReviveOptions = {},
): TapedAction {
  const shape = shapeOf(step, fn)
  const failure = step.status === 'error' ? { error: recordedError(step) } : undefined
  const restore = () => restoreResult(step, onMiss)
  const give = revive ?? ((value: unknown) => value)
  if (shape === 'generator' || shape === 'async-generator') {
    const { yielded, returned } = piecesOf(step, restore())
    const pieces = { yielded: yielded.map(give), returned, failure }
    return taped(shape === 'generator' ? generate(pieces) : generateAsync(pieces))
  }
  const settle = () => {
    if (failure !== undefined) throw failure.error
    return give(restore())
  }
  return shape === 'promise' ? taped(promiseOf(settle)) : attempt(settle)
}

/** A value that was not recorded, in the form in which the function gives its results. */
export function inShape(value: unknown, step: Step | undefined, fn: AnyFunction): TapedAction {
  const shape = shapeOf(step, fn)
  if (shape === 'promise') return taped(promiseOf(() => value))
  if (shape === 'value' || isIterator(value)) return taped(value)
  const pieces = { yielded: Array.isArray(value) ? value : [value], returned: undefined, failure: undefined }
  return taped(shape === 'generator' ? generate(pieces) : generateAsync(pieces))
}

function isIterator(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'next' in value
}

function taped(value: unknown): TapedAction {
  return { kind: 'value', value, source: 'tape' }
}

function attempt(settle: () => unknown): TapedAction {
  try {
    return taped(settle())
  } catch (error) {
    return { kind: 'error', error, source: 'tape' }
  }
}

function promiseOf(settle: () => unknown): Promise<unknown> {
  const promise = new Promise((resolve) => resolve(settle()))
  // The host handles it; until then it must not count as unhandled.
  promise.catch(() => undefined)
  return promise
}

type Shape = 'value' | 'promise' | 'generator' | 'async-generator'

const shapes: ReadonlySet<unknown> = new Set(['value', 'promise', 'generator', 'async-generator'])

/** Older recordings do not say; then the function itself does, or the time that it took. */
function shapeOf(step: Step | undefined, fn: AnyFunction): Shape {
  const recorded = step?.attributes?.['playhead.action.shape']
  if (shapes.has(recorded)) return recorded as Shape
  const kind = Object.prototype.toString.call(fn)
  if (kind === '[object AsyncGeneratorFunction]') return 'async-generator'
  if (kind === '[object GeneratorFunction]') return 'generator'
  return kind === '[object AsyncFunction]' || (step?.durationMs ?? 0) >= 1 ? 'promise' : 'value'
}

function restoreResult(step: Step, onMiss: ReviveOptions['onMiss']): unknown {
  // The host may change what it gets, and the tape is read again.
  const data = structuredClone(recordedResult(step))
  return reviveValue(data, recordedTypes(step), (path) => {
    const sentence = `${stepTitle(step)} was served from the tape, and the function at ${path} of its result can’t be recorded. Declare \`revive\` or \`replay: 'run'\` with recordTool.`
    onMiss?.(sentence)
    return new Error(sentence)
  })
}

type Pieces = { yielded: unknown[]; returned: unknown; failure: { error: unknown } | undefined }

function piecesOf({ streaming }: Step, value: unknown): { yielded: unknown[]; returned: unknown } {
  const chunks = streaming?.chunks?.map(([, text]) => text)
  if (chunks !== undefined && chunks.join('') === value) return { yielded: chunks, returned: undefined }
  if (Array.isArray(value)) return { yielded: value, returned: undefined }
  if (typeof value === 'object' && value !== null && 'yielded' in value && Array.isArray(value.yielded))
    return { yielded: value.yielded, returned: 'returned' in value ? value.returned : undefined }
  return { yielded: value === undefined ? [] : [value], returned: undefined }
}

function* generate({ yielded, returned, failure }: Pieces): Generator {
  yield* yielded
  if (failure !== undefined) throw failure.error
  return returned
}

async function* generateAsync({ yielded, returned, failure }: Pieces): AsyncGenerator {
  yield* yielded
  if (failure !== undefined) throw failure.error
  return returned
}
