import { readAgentInput, stepTitle, visibleText, type Step } from '@playhead/model'
import { init } from 'playhead'
import { ActiveRun, setRun } from '../record/session/active-run.ts'
import { setTape } from '../record/session/active-tape.ts'
import { closeSession, openSession, type OpenSession } from '../record/session/session-lifecycle.ts'
import { summarizeError } from '../record/value/describe-error.ts'
import { readRunSettings } from '../runtime/run-settings.ts'
import { knownRuntime, type Runtime } from '../runtime/runtime.ts'
import { contentOptionsOf } from '../tape/asked-step.ts'
import type { RunBudget } from '../tape/live-calls.ts'
import { playTape, type Playing } from '../tape/play-tape.ts'
import { createRunTape, type RunTape } from '../tape/run-tape.ts'
import { importConfig } from './config-file.ts'
import type { AgentConfig, AgentInput, AgentRunContext } from './config.ts'
import type { FromChild, RunEnd, RunReport, RunSpec, ToChild } from './messages.ts'

const FLUSH_TIMEOUT_MS = 10_000

/** Runs an agent from the tape and reports how it went, however it ends. Throws if the config can't be loaded. */
export async function runAgentOnTape(
  { spec, hasBudget }: Extract<ToChild, { kind: 'run' }>,
  report: (message: FromChild) => void,
): Promise<void> {
  init()
  const runtime = knownRuntime()
  if (runtime === undefined) throw new Error('The SDK did not start.')
  const budget = hasBudget ? new ParentBudget(report) : undefined
  const run = new Run(spec, { runtime, report, budget })
  // The agent's modules may already call their models.
  setTape(() => run.tape)
  run.play()
  setRun(run.active)
  const config = await importConfig(spec.configFile)
  const agent = config.agents[spec.agent]
  if (agent === undefined) throw new Error(`The config has no agent ${visibleText(spec.agent)}.`)
  run.setRules(agent)
  let isDelivered = false
  // Also when the agent calls `process.exit`, throws where nobody catches it, or waits for nothing.
  process.once('exit', (code) => report({ kind: 'finished', report: run.report(code, isDelivered) }))
  process.once('uncaughtExceptionMonitor', (error) =>
    run.end({ kind: 'threw', message: summarizeError(error) }, error),
  )
  process.once('beforeExit', () => run.end({ kind: 'stuck' }))
  const input = readAgentInput(spec.parent, { find: agent.input, thread: spec.thread })
  try {
    const context = { signal: stopSignal(), session: spec.parent.session }
    run.end(await Promise.race([run.gaveUp, work(agent, input, context)]))
  } catch (error) {
    run.end({ kind: 'threw', message: summarizeError(error) }, error)
  }
  isDelivered = await runtime.stop(FLUSH_TIMEOUT_MS)
}

/** An agent that streams its answer works only as far as somebody reads it. */
async function work(agent: AgentConfig, input: AgentInput, context: AgentRunContext): Promise<RunEnd> {
  const result = await agent.run(input, context)
  if (typeof result === 'object' && result !== null && Symbol.asyncIterator in result)
    for await (const _piece of result as AsyncIterable<unknown>);
  return { kind: 'returned' }
}

/** Aborted when the process is asked to end; an agent that does not stop within a second is ended. */
function stopSignal(): AbortSignal {
  const stop = new AbortController()
  process.once('SIGTERM', () => {
    stop.abort()
    setTimeout(() => process.exit(143), 1000)
  })
  return stop.signal
}

/** A call or action on its own is a session without a root around it, and is one again. */
function isSessionRoot(steps: readonly Step[]): boolean {
  const roots = steps.filter(({ parentId }) => parentId === null)
  return roots.length !== 1 || !['llm', 'embedding', 'action', 'agent'].includes(roots[0]!.kind)
}

/** The budget is kept by the process that started this one, because several runs share it. */
class ParentBudget implements RunBudget {
  readonly #report: (message: FromChild) => void
  readonly #waiting = new Map<number, (isGranted: boolean) => void>()
  #lastId = 0

  constructor(report: (message: FromChild) => void) {
    this.#report = report
    process.on('message', (message: ToChild) => {
      if (message.kind !== 'reserved') return
      this.#waiting.get(message.id)?.(message.isGranted)
      this.#waiting.delete(message.id)
      if (this.#waiting.size === 0) process.channel?.unref()
    })
    process.channel?.unref()
  }

  reserve(usd: number): Promise<boolean> {
    this.#lastId += 1
    const id = this.#lastId
    process.channel?.ref()
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve)
      this.#report({ kind: 'reserve', id, usd })
    })
  }

  settle(reservedUsd: number, actualUsd: number): void {
    this.#report({ kind: 'settle', reservedUsd, actualUsd })
  }
}

type RunParts = {
  runtime: Runtime
  report: (message: FromChild) => void
  budget: RunBudget | undefined
}

/** How long an agent may go on after a miss: some ask again and again, with pauses. */
const AFTER_MISS_MS = 5_000

class Run {
  readonly active: ActiveRun
  tape: RunTape
  /** Resolves if the agent goes on although its run is lost. */
  readonly gaveUp: Promise<RunEnd>
  #giveUp!: (end: RunEnd) => void
  readonly #budget: RunBudget | undefined
  readonly #spec: RunSpec
  readonly #runtime: Runtime
  #playing: Playing | undefined
  #opened: OpenSession | undefined
  #ended: RunEnd | undefined

  constructor(spec: RunSpec, { runtime, report, budget }: RunParts) {
    this.#spec = spec
    this.#runtime = runtime
    this.#budget = budget
    this.gaveUp = new Promise((resolve) => {
      this.#giveUp = resolve
    })
    this.tape = this.#createTape({})
    const { parent, lane, fork } = spec
    this.active = new ActiveRun(
      { parentId: parent.session.id, lane, fork },
      {
        onStart: (sessionId) => report({ kind: 'started', sessionId }),
        ...(isSessionRoot(parent.steps) && { openSession: () => this.#open().context }),
      },
    )
  }

  /** What the config says about the actions is known only after it was loaded. */
  setRules(agent: AgentConfig): void {
    this.tape = this.#createTape(agent)
    this.play()
  }

  /** Puts the whole process on the tape, with the clock of the recorded run until it goes live. */
  play(): void {
    const before = this.#playing
    const { parent, lane } = this.#spec
    const isPinned = lane === 'tape' || lane === 'fork'
    this.#playing = playTape(this.tape, {
      allowSpawn: readRunSettings()?.allowSpawn,
      ...(isPinned && { clockAt: Date.parse(parent.session.startedAt) }),
    })
    before?.stop()
  }

  #createTape({ effects, stubs, replay, volatile }: Partial<AgentConfig>): RunTape {
    return createRunTape({
      ...this.#spec,
      agent: { stubs, volatile, ...(effects && { effects }), ...(replay && { replay }) },
      budget: this.#budget,
      content: () => contentOptionsOf(this.#runtime.recorder),
      onLive: () => this.#playing?.unpinClock(),
      onLost: () => setTimeout(() => this.#giveUp({ kind: 'stopped' }), AFTER_MISS_MS).unref(),
    })
  }

  /** For an agent that records steps outside of any session. */
  #open(): OpenSession {
    this.#opened ??= openSession(
      this.#runtime.recorder,
      { name: this.#spec.agent },
      { reach: 'scope', captureStack: () => [] },
    )
    return this.#opened
  }

  end(ended: RunEnd, error?: unknown): void {
    if (this.#ended !== undefined) return
    this.#ended = ended
    if (this.#opened === undefined) return
    const end =
      ended.kind === 'threw'
        ? { endState: 'Fail', reason: ended.message, error }
        : { endState: ended.kind === 'returned' ? 'Success' : 'Indeterminate' }
    closeSession(this.#runtime.recorder, this.#opened.frame, end)
  }

  #notes(isDelivered: boolean): string[] {
    const { endpoint, parent } = this.#spec
    const notes: string[] = []
    if (this.tape.misses.length > 0 && readAgentInput(parent).from === 'message')
      notes.push('The input was guessed from a message. Record it: withSession({ input }).')
    if (endpoint !== undefined && !isDelivered && this.#ended !== undefined)
      notes.push(`The session could not be delivered to ${endpoint}.`)
    return notes
  }

  report(code: number, isDelivered: boolean): RunReport {
    const [first, ...others] = this.active.roots
    const { counts, misses, unused, mapped, costUsd, reason, notes } = this.tape
    return {
      session: first === undefined ? null : this.#runtime.recorder.readSession(first, { isPriced: true }),
      otherSessions: others.map(({ id }) => id),
      calls: counts,
      misses,
      unused: unused.map(({ step, number }) => ({ step: number, name: visibleText(stepTitle(step)) })),
      mapped,
      costUsd,
      reason,
      notes: [...notes, ...this.#notes(isDelivered)],
      file: first === undefined ? undefined : this.#runtime.recordings.pathOf(first),
      ended: this.#ended ?? { kind: 'exited', code },
      isDelivered,
    }
  }
}
