import { trace, type Attributes, type Context } from '@opentelemetry/api'
import {
  buildStepTree,
  isMiss,
  isRecord,
  planAction,
  visibleText,
  whyNotServable,
  withResult,
  type ActionEntry,
  type ActionRules,
  type ForkEdit,
  type Lane,
  type Session,
  type Step,
  type StepBranch,
  type Tape,
  type TapeEntry,
  type TapeMiss,
} from '@playhead/model'
import { preciseNowMs } from '../record/opentelemetry/clock.ts'
import { activeRecorder } from '../record/session/active-recorder.ts'
import type { ActionCall, TapedAction } from '../record/session/active-tape.ts'
import { inShape, reviveResult } from './revive-result.ts'
import type { RunState } from './run-state.ts'

/** What the configuration says about the actions of an agent. */
export type AgentRules = Pick<ActionRules, 'effects' | 'replay'> & {
  /** What a write returns when it is not made: a value, or a function of its arguments by name. */
  stubs?: Readonly<Record<string, unknown>> | undefined
  volatile?: readonly RegExp[] | undefined
}

export type RunActionsOptions = {
  tape: Tape
  state: RunState
  sessions: readonly Session[]
  lane: Lane
  agent: AgentRules
  allowWrites: readonly string[]
  forkPoint: TapeEntry | undefined
  isBeforeFork: (entry: TapeEntry) => boolean
  mayAnswer: (entry: TapeEntry) => boolean
  edit: ForkEdit
}

/** Thrown by an action that has no answer. */
export class TapeMissError extends Error {
  override readonly name = 'TapeMissError'
}

/** Decides for every action of a run whether it is served, run or stubbed. */
export class RunActions {
  readonly #options: RunActionsOptions
  readonly #rules: ActionRules

  constructor(options: RunActionsOptions) {
    const { effects, replay } = options.agent
    this.#options = options
    this.#rules = {
      ...(effects !== undefined && { effects }),
      ...(replay !== undefined && { replay }),
      allowWrites: options.allowWrites,
    }
  }

  act(call: ActionCall): TapedAction {
    const { state, tape, forkPoint, isBeforeFork, mayAnswer } = this.#options
    if (state.stop !== undefined) return this.#fail(state.stop, call)
    if (state.sides.tools) {
      const early = state.isForked ? tape.findAction(call.name, call.arguments, isBeforeFork) : undefined
      return early === undefined ? this.#live(call) : this.#replay(early, call)
    }
    const found = tape.takeAction(call.name, call.arguments, mayAnswer)
    if (isMiss(found)) return this.#missed(found, call)
    return found === forkPoint ? this.#fork(found, call) : this.#replay(found, call)
  }

  #replay(entry: ActionEntry, call: ActionCall): TapedAction {
    const plan = planAction(call, { isLive: false, isContainer: entry.isContainer }, this.#rules)
    return plan === 'run' ? { kind: 'run' } : this.#serve(entry, call)
  }

  #missed(miss: TapeMiss, call: ActionCall): TapedAction {
    const { lane, state } = this.#options
    // A live model asks in words of its own, so a call that holds others runs whatever its arguments are.
    const isLoose = lane === 'live-model'
    const isContainer = isLoose && this.#isContainer(call.name)
    if (planAction(call, { isLive: false, isContainer }, this.#rules) === 'run') return { kind: 'run' }
    if (isLoose) return this.#stub(call)
    return state.miss(miss) ? this.#live(call) : this.#fail(state.stop!, call)
  }

  #live(call: ActionCall): TapedAction {
    const { state, tape } = this.#options
    const isContainer = this.#isContainer(call.name)
    switch (planAction(call, { isLive: true, isContainer }, this.#rules)) {
      case 'run':
        return { kind: 'run' }
      case 'live':
        state.leaveTape()
        state.counts.live += 1
        return { kind: 'run', source: 'live' }
      case 'serve': {
        const found = tape.takeAction(call.name, call.arguments)
        return isMiss(found) ? this.#stub(call) : this.#serve(found, call)
      }
      case 'stub':
        return this.#stub(call)
    }
  }

  /** The step of the fork: its edit is made, and everything after it is live. */
  #fork(entry: ActionEntry, call: ActionCall): TapedAction {
    const { state, edit } = this.#options
    state.fork()
    if ('result' in edit) {
      state.counts.stubbed += 1
      return asStub(reviveResult(withResult(entry.step, edit.result), call.fn, call))
    }
    if (!('args' in edit)) return this.#live(call)
    const args = toPositions(edit.args, call)
    const planned = this.#live({ ...call, args, arguments: edit.args })
    return planned.kind === 'run' ? { ...planned, args } : planned
  }

  #serve(entry: ActionEntry, call: ActionCall): TapedAction {
    const { state } = this.#options
    const { step, number } = entry
    const missOf = (sentence: string): TapeMiss => ({
      kind: 'action',
      stepId: step.id,
      step: number,
      sentence,
    })
    const reason = whyNotServable(step)
    if (reason !== undefined) return this.#missed(missOf(reason), call)
    state.counts.taped += 1
    if (entry.isContainer) this.#copyInside(entry)
    return reviveResult(step, call.fn, {
      revive: call.revive,
      onMiss: (sentence: string) => state.halt(missOf(sentence)),
    })
  }

  /** Nothing inside runs, so what was recorded there is shown in its place. */
  #copyInside({ step }: ActionEntry): void {
    const { sessions, tape } = this.#options
    const session = sessions.find(({ steps }) => steps.includes(step))
    const branch = session && findBranch(buildStepTree(session.steps), step)
    if (branch === undefined) return
    const inside = new Set(copySteps(branch))
    for (const entry of tape.entries) if (inside.has(entry.step)) entry.isUsed = true
  }

  #stub(call: ActionCall): TapedAction {
    const { state, tape, agent } = this.#options
    const { stubs = {} } = agent
    const hasOwn = Object.hasOwn(stubs, call.name)
    const nearest = tape.findStub(call.name, call.arguments)
    if (!hasOwn && nearest === undefined) {
      state.halt({ kind: 'action', sentence: needsStub(call.name, state.sides.tools) })
      return this.#fail(state.stop!, call)
    }
    state.counts.stubbed += 1
    state.note(this.#describeStub(call, hasOwn))
    if (!hasOwn) return asStub(reviveResult(nearest!.step, call.fn, call))
    try {
      const own = stubs[call.name]
      const value: unknown = typeof own === 'function' ? own(call.arguments) : own
      return asStub(inShape(value, nearest?.step, call.fn))
    } catch (error) {
      return { kind: 'error', error, source: 'stub' }
    }
  }

  #describeStub({ name, effect }: ActionCall, isOwn: boolean): string {
    const shown = visibleText(name)
    const stub = isOwn ? 'its stub answered' : 'its nearest recorded result stood in'
    const isDeclared = (this.#rules.effects?.[name] ?? effect) !== undefined
    const hint = ` Nothing declares that it only reads; if it does, add effects: { ${shown}: 'read' } to the agent in playhead.config.ts.`
    const isHintUseful = !isDeclared && this.#options.state.sides.tools
    return `${shown} was not run: ${stub}.${isHintUseful ? hint : ''}`
  }

  #isContainer(name: string): boolean {
    return this.#options.tape.actionsNamed(name).some(({ isContainer }) => isContainer)
  }

  #fail(sentence: string, { name, fn }: ActionCall): TapedAction {
    const error = new TapeMissError(sentence)
    const rejected = Promise.reject(error)
    // The host handles it; until then it must not count as unhandled.
    rejected.catch(() => undefined)
    const shaped = inShape(rejected, this.#options.tape.actionsNamed(name)[0]?.step, fn)
    const isPromise = shaped.kind === 'value' && shaped.value instanceof Promise && shaped.value !== rejected
    return isPromise ? { kind: 'value', value: shaped.value } : { kind: 'error', error }
  }
}

function asStub(action: TapedAction): TapedAction {
  return action.kind === 'run' ? action : { ...action, source: 'stub' }
}

function needsStub(name: string, isLive: boolean): string {
  const shown = visibleText(name)
  const why = isLive
    ? 'it may write, and no recorded call of it can stand in'
    : 'tools are answered from the recording, which has no call of it'
  const otherwise = isLive
    ? `say that it only reads (effects: { ${shown}: 'read' })`
    : 'use --live model,tools'
  return `${shown} needs a stub: ${why}. In playhead.config.ts, give it one (stubs: { ${shown}: (args) => … }), or ${otherwise}.`
}

/** Arguments by name take the place of those that the function got; a list is used as it is. */
function toPositions(edited: unknown, { arguments: named, args }: ActionCall): unknown[] {
  if (Array.isArray(edited)) return edited
  if (!isRecord(edited) || !isRecord(named)) return [edited, ...args.slice(1)]
  const [only] = args
  const isDestructured =
    args.length === 1 && isRecord(only) && Object.keys(named).every((name) => Object.hasOwn(only, name))
  if (isDestructured) return [edited]
  const names = Object.keys(named)
  return args.map((value, index) => {
    const name = names[index]
    return name !== undefined && Object.hasOwn(edited, name) ? edited[name] : value
  })
}

function findBranch(branches: readonly StepBranch[], step: Step): StepBranch | undefined {
  for (const branch of branches) {
    const found = branch.step === step ? branch : findBranch(branch.children, step)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Records the steps below a recorded step once more, below the step that is active now. They take no time, because
 * nothing happens. Returns the recorded steps that were copied.
 */
function copySteps({ children }: StepBranch): Step[] {
  const recorder = activeRecorder()
  if (recorder === undefined) return []
  const copied: Step[] = []
  const copy = ({ step, children: inner }: StepBranch, context: Context) => {
    const span = recorder.tracer().startSpan(step.name, { attributes: attributesOf(step) }, context)
    copied.push(step)
    for (const branch of inner) copy(branch, trace.setSpan(context, span))
    span.end(preciseNowMs())
  }
  for (const branch of children) copy(branch, recorder.scope.active())
  return copied
}

function attributesOf({ attributes = {} }: Step): Attributes {
  return { ...(attributes as Attributes), 'playhead.step.source': 'tape' }
}
