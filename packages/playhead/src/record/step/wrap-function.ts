import * as types from 'node:util/types'
import type { Attributes } from '@opentelemetry/api'
import { parseJson, TYPES_KEY, type Effect, type Replay } from '@playhead/model'
import { preciseNowMs } from '../opentelemetry/clock.ts'
import type { RecordedSpan } from '../opentelemetry/recorded-span.ts'
import { activeRecorder } from '../session/active-recorder.ts'
import { activeTape, type ActiveTape, type Revive, type TapedAction } from '../session/active-tape.ts'
import type { Recorder } from '../session/recorder.ts'
import { Reporter } from '../session/reporter.ts'
import { findDataProperty } from '../value/describe-object.ts'
import { isPlain, observeResult, type Observer } from '../value/observe-result.ts'
import type { Serialized } from '../value/serialize-value.ts'
import { nameArguments } from './name-arguments.ts'
import { readParameterNames, type AnyFunction, type ParameterNames } from './parameter-names.ts'
import { endStep, failStep, setValue, startMsOf, startStep, type OpenStep } from './step.ts'

/** How the calls of a function are recorded. */
export type CallPlan = {
  name: string
  /** Attributes of every call. */
  attributes: Attributes
  argumentsKey: string
  resultKey: string
  /** Parameter names from the user, for code whose names were lost in a build. */
  parameters: readonly string[] | undefined
  /** Of a run from a tape. */
  effect?: Effect | undefined
  replay?: Replay | undefined
  revive?: Revive | undefined
}

/** Shared by the ES module and the CommonJS copy of this package. */
const WRAPPED = Symbol.for('playhead.wrapped-actions.0')

/** The names of all actions that are wrapped in this process. */
export function wrappedActions(): Set<string> {
  const holder = globalThis as { [WRAPPED]?: Set<string> }
  holder[WRAPPED] ??= new Set()
  return holder[WRAPPED]
}

/** Functions are wrapped while modules are loaded, often before `init`. */
const reporter = new Reporter()

/**
 * Wraps a function so that its calls are recorded. The wrapper is a proxy, so it keeps the name, arity, properties and
 * class of the original.
 */
export function wrapFunction<Fn extends AnyFunction>(fn: Fn, plan: CallPlan): Fn {
  if (typeof fn !== 'function') {
    const line = `"${plan.name}" is not recorded, because it is not a function.`
    ;(activeRecorder()?.reporter ?? reporter).once('not a function', line)
    return fn
  }
  if (isAction(plan)) wrappedActions().add(plan.name)
  let names: ParameterNames | undefined | null = null
  const namesOf = () => {
    if (names === null)
      names =
        plan.parameters === undefined
          ? readParameterNames(fn)
          : { names: plan.parameters, isRest: false, count: Math.max(plan.parameters.length, fn.length) }
    return names
  }
  return new Proxy(fn, {
    apply(target, thisArgument: unknown, args: unknown[]) {
      const recorder = activeRecorder()
      const call = recorder === undefined ? undefined : tryToStart(recorder, plan, namesOf, args)
      if (recorder === undefined || call === undefined)
        return Reflect.apply(target, thisArgument, args as never[])
      let result: unknown
      try {
        result = recorder.scope.run(call.step.context, () => call.run(target, thisArgument, args))
      } catch (error) {
        call.setShape(undefined)
        call.onThrow(error)
        throw error
      }
      call.setShape(result)
      return observeResult(result, call)
    },
  })
}

function tryToStart(
  recorder: Recorder,
  plan: CallPlan,
  namesOf: () => ParameterNames | undefined,
  args: readonly unknown[],
): Call | undefined {
  try {
    const describe = (given: readonly unknown[]) => recorder.serialize(nameArguments(namesOf(), given))
    const described = describe(args)
    const step = startStep(recorder, { name: plan.name, attributes: plan.attributes })
    const call = new Call(recorder, plan, step, describe)
    call.setArguments(described)
    return call
  } catch (fault) {
    recorder.fault(fault)
    return undefined
  }
}

function isAction({ attributes }: CallPlan): boolean {
  return attributes['playhead.step.kind'] === 'action'
}

function shapeOf(result: unknown): 'value' | 'promise' | 'generator' | 'async-generator' {
  if (typeof result !== 'object' || result === null || types.isProxy(result)) return 'value'
  if (isPlain(result)) return 'value'
  if (types.isGeneratorObject(result)) return Symbol.asyncIterator in result ? 'async-generator' : 'generator'
  return types.isPromise(result) || typeof findDataProperty(result, 'then') === 'function'
    ? 'promise'
    : 'value'
}

/** Further values that a generator yields are not recorded, and the step is marked as truncated. */
const MAX_YIELDED = 20_000

/** One recorded call, from start to end. */
class Call implements Observer {
  readonly step: OpenStep
  readonly #recorder: Recorder
  readonly #plan: CallPlan
  readonly #describe: (args: readonly unknown[]) => Serialized
  readonly #truncated: string[] = []
  #argumentsJson = ''
  #taped: TapedAction | undefined
  #yielded: { atMs: number; value: unknown }[] | undefined

  constructor(
    recorder: Recorder,
    plan: CallPlan,
    step: OpenStep,
    describe: (args: readonly unknown[]) => Serialized,
  ) {
    this.#recorder = recorder
    this.#plan = plan
    this.step = step
    this.#describe = describe
  }

  setArguments({ text, isTruncated }: Serialized): void {
    this.#argumentsJson = text
    this.step.span.setAttribute(this.#plan.argumentsKey, text)
    if (isTruncated) this.setTruncated('arguments')
  }

  /** Runs the function, unless the process runs from a tape that has the result of this call. */
  run(fn: AnyFunction, thisArgument: unknown, args: unknown[]): unknown {
    const tape = isAction(this.#plan) ? activeTape() : undefined
    const taped = tape && this.#ask(tape, fn, args)
    this.#taped = taped
    if (taped?.source !== undefined) this.step.span.setAttribute('playhead.step.source', taped.source)
    if (taped?.kind === 'value') return taped.value
    if (taped?.kind === 'error') throw taped.error
    const { args: edited } = taped ?? {}
    if (edited !== undefined) this.#recorder.guard(() => this.setArguments(this.#describe(edited)))
    return Reflect.apply(fn, thisArgument, (edited ?? args) as never[])
  }

  #ask(tape: ActiveTape, fn: AnyFunction, args: unknown[]): TapedAction {
    // The recorded ones were redacted before they left the process.
    const given = this.#recorder.redactor.text(this.#argumentsJson, this.#plan.argumentsKey)
    const { name, effect, replay, revive } = this.#plan
    return tape.act({ name, arguments: parseJson(given), args, fn, effect, replay, revive })
  }

  /** Whether the call gave its result at once, later, or piece by piece: a later run gets it the same way. */
  setShape(result: unknown): void {
    const shape = shapeOf(result)
    if (shape === 'generator' || shape === 'async-generator') this.#yielded = []
    if (isAction(this.#plan)) this.step.span.setAttribute('playhead.action.shape', shape)
  }

  setTruncated(what: 'arguments' | 'result'): void {
    if (!this.#truncated.includes(what)) this.#truncated.push(what)
    this.step.span.setAttributes({
      'playhead.truncated': true,
      'playhead.truncated.of': [...this.#truncated],
    })
  }

  onReturn(value: unknown): void {
    const result = this.#writeResult(value)
    try {
      endStep(this.#recorder, this.step)
    } catch (fault) {
      this.#recorder.fault(fault)
    }
    this.#tellTape({ value: result })
  }

  onThrow(error: unknown): void {
    if (this.#yielded !== undefined) this.#writeResult(undefined)
    try {
      failStep(this.#recorder, this.step, error)
    } catch (fault) {
      this.#recorder.fault(fault)
    }
    this.#tellTape({ error })
  }

  onYield(value: unknown): void {
    this.#yielded ??= []
    if (this.#yielded.length < MAX_YIELDED)
      this.#yielded.push({ atMs: preciseNowMs() - startMsOf(this.step), value })
    else this.setTruncated('result')
  }

  resume<Result>(callback: () => Result): Result {
    return this.#recorder.scope.run(this.step.context, callback)
  }

  #tellTape(outcome: { value: unknown } | { error: unknown }): void {
    if (this.#taped?.kind !== 'run') return
    try {
      const { attributes = {} } = this.step.span as Partial<RecordedSpan>
      this.#taped.onResult?.({ ...outcome, attributes })
    } catch (fault) {
      this.#recorder.fault(fault)
    }
  }

  /** The step ends even if its result can't be written. */
  #writeResult(value: unknown): unknown {
    try {
      const result = this.#yielded === undefined ? value : this.#joinYielded(value)
      const typesKey = isAction(this.#plan) ? TYPES_KEY : undefined
      const isCut = setValue(this.#recorder, this.step.span, this.#plan.resultKey, result, typesKey)
      if (isCut) this.setTruncated('result')
      return result
    } catch (fault) {
      this.#recorder.fault(fault)
      return value
    }
  }

  /** Text chunks are joined, and the time of each is kept. Other values become a list. */
  #joinYielded(returned: unknown): unknown {
    const yielded = this.#yielded ?? []
    const values = yielded.map(({ value }) => value)
    if (values.length === 0 && returned === undefined) return undefined
    if (returned !== undefined) return { yielded: values, returned }
    if (!values.every((value) => typeof value === 'string')) return values
    if (this.#recorder.serializeOptions.isContentKept) {
      const chunks = yielded.map(({ atMs, value }) => [Math.round(atMs * 10) / 10, value])
      this.step.span.setAttribute('playhead.stream.chunks', this.#recorder.serialize(chunks).text)
    }
    return values.join('')
  }
}
