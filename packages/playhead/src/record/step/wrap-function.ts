import * as types from 'node:util/types'
import type { Attributes } from '@opentelemetry/api'
import { parseJson } from '@playhead/model'
import { preciseNowMs } from '../opentelemetry/clock.ts'
import { activeRecorder } from '../session/active-recorder.ts'
import { activeTape, type TapedResult } from '../session/active-tape.ts'
import type { Recorder } from '../session/recorder.ts'
import { Reporter } from '../session/reporter.ts'
import { findDataProperty } from '../value/describe-object.ts'
import { observeResult, type Observer } from '../value/observe-result.ts'
import {
  readParameterNames,
  type AnyFunction,
  type ParameterName,
  type ParameterNames,
} from './parameter-names.ts'
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
  let names: ParameterNames | undefined | null = null
  const namesOf = () => {
    if (names === null)
      names =
        plan.parameters === undefined ? readParameterNames(fn) : { names: plan.parameters, isRest: false }
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
        result = recorder.scope.run(call.step.context, () =>
          call.isServed(target) ? call.served() : Reflect.apply(target, thisArgument, args as never[]),
        )
      } catch (error) {
        call.onThrow(error)
        throw error
      }
      call.setShape(result)
      return observeResult(result, call)
    },
  })
}

/**
 * Arguments by name, whatever the style of the function: a destructured object gives its properties, and what has no
 * name of its own gets its position as its name. A list if no names are known.
 */
function nameArguments(known: ParameterNames | undefined, args: readonly unknown[]): unknown {
  if (known === undefined || (known.names.length === 0 && args.length > 0)) return args
  const { names, isRest } = known
  const [only] = args
  const isDestructuredOnly = names.length === 1 && typeof names[0] !== 'string' && args.length === 1
  if (isDestructuredOnly && typeof only === 'object' && only !== null && propertiesOf(only) === undefined)
    return only
  const named: Record<string, unknown> = {}
  for (const [index, value] of args.entries()) {
    const name = names[index]
    if (isRest && index >= names.length - 1) {
      const rest = names.at(-1)
      named[typeof rest === 'string' ? rest : 'rest'] = args.slice(index)
      break
    }
    if (typeof name === 'object' && name !== null) addProperties(named, { names, index, value })
    // JSON has no undefined, and an omitted argument is worth seeing.
    else named[name ?? String(index)] = value === undefined ? null : value
  }
  return named
}

/** Adds the properties of a destructured object in the order in which the function names them. */
function addProperties(
  named: Record<string, unknown>,
  { names, index, value }: { names: readonly ParameterName[]; index: number; value: unknown },
): void {
  if (value === undefined) return
  const properties = propertiesOf(value)
  const isTaken = (key: string) => names.includes(key) || Object.hasOwn(named, key)
  if (properties === undefined || Object.keys(properties).some(isTaken)) {
    named[String(index)] = value
    return
  }
  const declared = (names[index] as readonly string[]).filter((key) => Object.hasOwn(properties, key))
  for (const key of new Set([...declared, ...Object.keys(properties)]))
    Object.defineProperty(named, key, properties[key]!)
}

/** The properties of an object as they are, without running its getters; undefined for anything but a plain object. */
function propertiesOf(value: unknown): Record<string, PropertyDescriptor> | undefined {
  if (typeof value !== 'object' || value === null || types.isProxy(value)) return undefined
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return undefined
  const properties = Object.entries(Object.getOwnPropertyDescriptors(value))
  return Object.fromEntries(properties.filter(([, { enumerable }]) => enumerable))
}

function tryToStart(
  recorder: Recorder,
  plan: CallPlan,
  namesOf: () => ParameterNames | undefined,
  args: readonly unknown[],
): Call | undefined {
  try {
    const { text, isTruncated } = recorder.serialize(nameArguments(namesOf(), args))
    const step = startStep(recorder, { name: plan.name, attributes: plan.attributes })
    step.span.setAttribute(plan.argumentsKey, text)
    const call = new Call(recorder, plan, step, text)
    if (isTruncated) call.setTruncated('arguments')
    return call
  } catch (fault) {
    recorder.fault(fault)
    return undefined
  }
}

function shapeOf(result: unknown): 'value' | 'promise' | 'generator' | 'async-generator' {
  if (typeof result !== 'object' || result === null || types.isProxy(result)) return 'value'
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
  readonly #argumentsJson: string
  readonly #truncated: string[] = []
  #served: TapedResult | undefined
  #yielded: { atMs: number; value: unknown }[] | undefined

  constructor(recorder: Recorder, plan: CallPlan, step: OpenStep, argumentsJson: string) {
    this.#recorder = recorder
    this.#plan = plan
    this.step = step
    this.#argumentsJson = argumentsJson
  }

  /** True if the process runs from a tape that has the result of this call. */
  isServed(fn: AnyFunction): boolean {
    const tape = this.#plan.attributes['playhead.step.kind'] === 'action' ? activeTape() : undefined
    if (tape === undefined) return false
    this.#served = tape.act({ name: this.#plan.name, arguments: parseJson(this.#argumentsJson), fn })
    if (this.#served !== undefined) this.step.span.setAttribute('playhead.step.source', 'tape')
    return this.#served !== undefined
  }

  served(): unknown {
    if ('error' in this.#served!) throw this.#served.error
    return this.#served!.value
  }

  /** Whether the call gave its result at once, later, or piece by piece: a later run gets it the same way. */
  setShape(result: unknown): void {
    if (this.#plan.attributes['playhead.step.kind'] === 'action')
      this.step.span.setAttribute('playhead.action.shape', shapeOf(result))
  }

  setTruncated(what: 'arguments' | 'result'): void {
    if (!this.#truncated.includes(what)) this.#truncated.push(what)
    this.step.span.setAttributes({
      'playhead.truncated': true,
      'playhead.truncated.of': [...this.#truncated],
    })
  }

  onReturn(value: unknown): void {
    this.#writeResult(value)
    try {
      endStep(this.#recorder, this.step)
    } catch (fault) {
      this.#recorder.fault(fault)
    }
  }

  onThrow(error: unknown): void {
    if (this.#yielded !== undefined) this.#writeResult(undefined)
    try {
      failStep(this.#recorder, this.step, error)
    } catch (fault) {
      this.#recorder.fault(fault)
    }
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

  /** The step ends even if its result can't be written. */
  #writeResult(value: unknown): void {
    try {
      const result = this.#yielded === undefined ? value : this.#joinYielded(value)
      if (setValue(this.#recorder, this.step.span, this.#plan.resultKey, result)) this.setTruncated('result')
    } catch (fault) {
      this.#recorder.fault(fault)
    }
  }

  /** Text chunks are joined, and the time of each is kept. Other values become a list. */
  #joinYielded(returned: unknown): unknown {
    const yielded = this.#yielded ?? []
    const values = yielded.map(({ value }) => value)
    if (returned !== undefined) return { yielded: values, returned }
    if (!values.every((value) => typeof value === 'string')) return values
    if (this.#recorder.serializeOptions.isContentKept) {
      const chunks = yielded.map(({ atMs, value }) => [Math.round(atMs * 10) / 10, value])
      this.step.span.setAttribute('playhead.stream.chunks', this.#recorder.serialize(chunks).text)
    }
    return values.join('')
  }
}
