import type { Attributes } from '@opentelemetry/api'
import type { Effect, Replay, StepKind } from '@playhead/model'
import type { Revive } from '../session/active-tape.ts'
import { readField, readFields, toName, toNames, toText } from '../value/host-value.ts'
import { toEffect, UNNAMED } from './events.ts'
import type { AnyFunction } from './parameter-names.ts'
import { wrapFunction, type CallPlan } from './wrap-function.ts'

export type ActionOptions = {
  name: string
  /** Whether it changes the world (`write`) or only reads from it (`read`). */
  effect?: Effect | undefined
  /** The agent that acts. */
  agent?: string | undefined
  /** The parameter names, for code whose names are lost in a build. By default they are read from its source. */
  parameters?: readonly string[] | undefined
  /**
   * When a session runs again from its tape: `run` calls the function, `serve` returns its recorded result. By default a
   * function that makes recorded calls runs, and any other is served.
   */
  replay?: Replay | undefined
  /** Makes an instance of your class from its recorded data, when a result is served from a tape. */
  revive?: ((data: never) => unknown) | undefined
}

export type ToolOptions = ActionOptions & {
  /** The description of the tool that the model was given. */
  description?: string | undefined
}

/** A standard method decorator. The decorated method keeps its type. */
export type MethodDecorator = <Method extends AnyFunction>(
  method: Method,
  context: ClassMethodDecoratorContext,
) => Method

/**
 * Records every call of a function as an action: its arguments by name, what it returned or threw, and how long it took.
 * In every other respect the function stays the same: sync or async, generators, `this`, types, name and errors.
 *
 * A call outside of any session is a session of its own.
 *
 * @example
 * const fetchCustomer = playhead.recordAction("fetch_customer_data", async (customerId: string) => db.getCustomer(customerId))
 * const refund = playhead.recordAction({ name: "issue_refund", effect: "write" }, async (invoice: string) => billing.refund(invoice))
 *
 * @example
 * class Tools {
 *   \@playhead.recordAction("lookup_plan")
 *   async lookupPlan(id: string) { … }
 * }
 */
export function recordAction<Fn extends AnyFunction>(nameOrOptions: string | ActionOptions, fn: Fn): Fn
export function recordAction(nameOrOptions: string | ActionOptions): MethodDecorator
export function recordAction<Fn extends AnyFunction>(
  nameOrOptions: string | ActionOptions,
  fn?: Fn,
): Fn | MethodDecorator {
  return wrapOrDecorate(planAction(toOptions(nameOrOptions)), fn)
}

/**
 * Like `recordAction`, for tools that a model calls. The step uses OpenTelemetry's conventions for tool calls.
 *
 * @example
 * const search = playhead.recordTool({ name: "search_docs", effect: "read" }, async (query: string) => index.search(query))
 */
export function recordTool<Fn extends AnyFunction>(nameOrOptions: string | ToolOptions, fn: Fn): Fn
export function recordTool(nameOrOptions: string | ToolOptions): MethodDecorator
export function recordTool<Fn extends AnyFunction>(
  nameOrOptions: string | ToolOptions,
  fn?: Fn,
): Fn | MethodDecorator {
  const plan = planAction(toOptions(nameOrOptions))
  const description = toText(readField(nameOrOptions, 'description'))
  return wrapOrDecorate(
    {
      ...plan,
      attributes: {
        ...plan.attributes,
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': plan.name,
        ...(description !== undefined && { 'gen_ai.tool.description': description }),
      },
      argumentsKey: 'gen_ai.tool.call.arguments',
      resultKey: 'gen_ai.tool.call.result',
    },
    fn,
  )
}

/**
 * Records a function as an agent. Its steps, and other agents that it calls, appear inside it.
 *
 * @example
 * const researcher = playhead.agent("researcher", async (question: string) => { … })
 * const writer = playhead.agent("writer", async (topic: string) => write(await researcher(topic)))
 */
export function agent<Fn extends AnyFunction>(name: string, fn: Fn): Fn
export function agent(name: string): MethodDecorator
export function agent<Fn extends AnyFunction>(agentName: string, fn?: Fn): Fn | MethodDecorator {
  const name = toName(agentName) ?? UNNAMED
  return wrapOrDecorate(
    {
      name,
      attributes: {
        ...kindAttribute('agent'),
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': name,
      },
      argumentsKey: 'input.value',
      resultKey: 'output.value',
      parameters: undefined,
    },
    fn,
  )
}

const optionNames = ['name', 'effect', 'agent', 'parameters', 'replay', 'revive'] as const

type GivenOptions = Record<(typeof optionNames)[number], unknown>

/** Called while modules are loaded, where an exception would end the program. */
function toOptions(nameOrOptions: unknown): GivenOptions {
  const isObject = typeof nameOrOptions === 'object' && nameOrOptions !== null
  const given = readFields(nameOrOptions, optionNames)
  return isObject ? given : { ...given, name: nameOrOptions }
}

function planAction(given: GivenOptions): CallPlan {
  const effect = toEffect(given.effect)
  const agentName = toName(given.agent)
  return {
    name: toName(given.name) ?? UNNAMED,
    attributes: {
      ...kindAttribute('action'),
      ...(effect !== undefined && { 'playhead.step.effect': effect }),
      ...(agentName !== undefined && { 'gen_ai.agent.name': agentName }),
    },
    argumentsKey: 'playhead.action.arguments',
    resultKey: 'playhead.action.result',
    parameters: given.parameters === undefined ? undefined : toNames(given.parameters),
    effect,
    replay: given.replay === 'run' || given.replay === 'serve' ? given.replay : undefined,
    revive: typeof given.revive === 'function' ? (given.revive as Revive) : undefined,
  }
}

function kindAttribute(kind: StepKind): Attributes {
  return { 'playhead.step.kind': kind }
}

function wrapOrDecorate<Fn extends AnyFunction>(plan: CallPlan, fn: Fn | undefined): Fn | MethodDecorator {
  if (fn !== undefined) return wrapFunction(fn, plan)
  return <Method extends AnyFunction>(method: Method) => wrapFunction(method, plan)
}
