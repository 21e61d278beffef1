import type { Attributes } from '@opentelemetry/api'
import { activeRuntime } from '../session/active-runtime.ts'
import { type AnyFunction, readParameterNames, type ParameterNames } from './parameter-names.ts'
import { preciseNowMs } from '../opentelemetry/clock.ts'
import { observeResult, type Observer } from '../value/observe-result.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { endStep, failStep, startMsOf, startStep, type OpenStep } from './step.ts'

/** How the calls of a function are recorded. */
export type CallPlan = {
  name: string
  /** Attributes that every call has. */
  attributes: Attributes
  argumentsKey: string
  resultKey: string
  /** Given by the user, for code whose own names were lost in a build. */
  parameters: readonly string[] | undefined
}

/**
 * Gives a function that does the same and is recorded. It is a proxy of the original, so that its name, its arity, its
 * properties and its class stay what they are.
 */
export function wrapFunction<Fn extends AnyFunction>(fn: Fn, plan: CallPlan): Fn {
  let names: ParameterNames | undefined | null = null
  const namesOf = () => {
    if (names === null)
      names =
        plan.parameters === undefined ? readParameterNames(fn) : { names: plan.parameters, isRest: false }
    return names
  }
  return new Proxy(fn, {
    apply(target, thisArgument: unknown, args: unknown[]) {
      const runtime = activeRuntime()
      const call = runtime === undefined ? undefined : tryToBegin(runtime, plan, namesOf(), args)
      if (runtime === undefined || call === undefined)
        return Reflect.apply(target, thisArgument, args as never[])
      let result: unknown
      try {
        result = runtime.scope.run(call.step.context, Reflect.apply, target, thisArgument, args)
      } catch (error) {
        call.onThrow(error)
        throw error
      }
      return observeResult(result, call)
    },
  })
}

/** Arguments by the names of their parameters, or as the list that they are. */
export function nameArguments(known: ParameterNames | undefined, args: readonly unknown[]): unknown {
  if (known === undefined || (known.names.length === 0 && args.length > 0)) return args
  const { names, isRest } = known
  const [only] = args
  // A single object that is taken apart: its keys are the names.
  if (
    names.length === 1 &&
    names[0] === null &&
    args.length === 1 &&
    typeof only === 'object' &&
    only !== null
  )
    return only
  const named: Record<string, unknown> = {}
  for (const [index, value] of args.entries()) {
    if (isRest && index >= names.length - 1) {
      named[names.at(-1) ?? 'rest'] = args.slice(index)
      break
    }
    // JSON has no undefined, and that something was left out is worth seeing.
    named[names[index] ?? String(index)] = value === undefined ? null : value
  }
  return named
}

function tryToBegin(
  runtime: Runtime,
  plan: CallPlan,
  names: ParameterNames | undefined,
  args: readonly unknown[],
): Call | undefined {
  try {
    const { text, isCut } = runtime.serialize(nameArguments(names, args))
    const step = startStep(runtime, { name: plan.name, attributes: plan.attributes })
    step.span.setAttribute(plan.argumentsKey, text)
    if (isCut) step.span.setAttribute('playhead.truncated', true)
    return new Call(runtime, plan, step)
  } catch (fault) {
    runtime.fault(fault)
    return undefined
  }
}

/** What is kept of the values that a generator gives. */
const MAX_YIELDED = 1000

/** One recorded call, from its beginning to its end. */
class Call implements Observer {
  readonly step: OpenStep
  readonly #runtime: Runtime
  readonly #plan: CallPlan
  #yielded: { atMs: number; value: unknown }[] | undefined

  constructor(runtime: Runtime, plan: CallPlan, step: OpenStep) {
    this.#runtime = runtime
    this.#plan = plan
    this.step = step
  }

  onReturn(value: unknown): void {
    try {
      this.#setResult(this.#yielded === undefined ? value : this.#settleYielded(value))
      endStep(this.#runtime, this.step)
    } catch (fault) {
      this.#runtime.fault(fault)
    }
  }

  onThrow(error: unknown): void {
    try {
      if (this.#yielded !== undefined) this.#setResult(this.#settleYielded(undefined))
      failStep(this.#runtime, this.step, error)
    } catch (fault) {
      this.#runtime.fault(fault)
    }
  }

  onYield(value: unknown): void {
    this.#yielded ??= []
    if (this.#yielded.length < MAX_YIELDED)
      this.#yielded.push({ atMs: preciseNowMs() - startMsOf(this.step), value })
  }

  resume<Result>(callback: () => Result): Result {
    return this.#runtime.scope.run(this.step.context, callback)
  }

  #setResult(value: unknown): void {
    if (value === undefined) return
    const { span } = this.step
    if (typeof value === 'number' || typeof value === 'boolean') {
      span.setAttribute(this.#plan.resultKey, value)
      return
    }
    const { text, isCut } = this.#runtime.serialize(value)
    span.setAttribute(this.#plan.resultKey, text)
    if (isCut) span.setAttribute('playhead.truncated', true)
  }

  /** Pieces of text are one text, and when each came is kept; anything else is a list. */
  #settleYielded(returned: unknown): unknown {
    const yielded = this.#yielded ?? []
    const values = yielded.map(({ value }) => value)
    if (returned !== undefined) return { yielded: values, returned }
    if (!values.every((value) => typeof value === 'string')) return values
    if (this.#runtime.settings.isContentKept) {
      const chunks = yielded.map(({ atMs, value }) => [Math.round(atMs * 10) / 10, value])
      this.step.span.setAttribute('playhead.stream.chunks', this.#runtime.serialize(chunks).text)
    }
    return values.join('')
  }
}
