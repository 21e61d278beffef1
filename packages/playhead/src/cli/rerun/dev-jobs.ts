import {
  Budget,
  countOf,
  describeEndState,
  formatCost,
  shortSessionId,
  stepTitle,
  type ForkEdit,
  type Step,
} from '@playhead/model'
import { ConfigError } from '../../rerun/config-file.ts'
import type { RerunLine, RunSpec } from '../../rerun/messages.ts'
import { runInChild } from '../../rerun/run-child.ts'
import { endStateColour } from '../commands/session-table.ts'
import { CliError } from '../terminal/cli-error.ts'
import { plainLine } from '../terminal/printable-text.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { DevJob, DevLink } from './dev-link.ts'
import { describeEdit, planArms, renderEvidence } from './fork.ts'

/** A run of the job without its edit, the step that it forks at, and the number of that step. */
export type PreparedJob = { spec: RunSpec; step: Step; number: number }

export type DevJobOptions = {
  terminal: Terminal
  link: Pick<DevLink, 'report'>
  /** Reads the session and finds the agent that made it, with the config as it is now. Throws if it can't be run. */
  prepare: (job: DevJob) => Promise<PreparedJob>
  /** Runs at the same time, of all jobs. */
  concurrency: number
  /** For all runs of one job. */
  budgetUsd: number
}

/** Runs what pages ask for. A page chooses session, step, edit and number; rights and limits come from the terminal. */
export class DevJobs {
  readonly #options: DevJobOptions
  readonly #open = new Map<string, { stop: AbortController; end: Promise<void> }>()
  readonly #seen = new Set<string>()
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(options: DevJobOptions) {
    this.#options = options
  }

  /** Takes a job that it has not seen before. */
  add(job: DevJob): void {
    if (this.#seen.has(job.jobId)) return
    this.#seen.add(job.jobId)
    const stop = new AbortController()
    const end = this.#handle(job, stop.signal).finally(() => this.#open.delete(job.jobId))
    this.#open.set(job.jobId, { stop, end })
  }

  cancel(jobId: string): void {
    this.#open.get(jobId)?.stop.abort(new CliError('It was canceled.'))
  }

  /** Ends every run and everything that it started. */
  async stop(): Promise<void> {
    const open = [...this.#open.values()]
    for (const { stop } of open) stop.abort(new CliError('The terminal with `playhead dev` was ended.'))
    await Promise.all(open.map(({ end }) => end))
  }

  async #handle(job: DevJob, signal: AbortSignal): Promise<void> {
    const { link, terminal } = this.#options
    if (!isJob(job)) return
    const accepted = await link.report(job.jobId, { state: 'accepted' })
    if (accepted === 'unwanted') return
    try {
      if (accepted === 'lost') throw new CliError('The connection was lost before the job was accepted.')
      const sentence = await this.#run(job, signal)
      await link.report(job.jobId, { state: 'finished', ...(sentence !== undefined && { sentence }) })
    } catch (error) {
      const sentence = describeProblem(error)
      terminal.print(`${terminal.paint('red', '✗')} ${plainLine(sentence)}`)
      const state = signal.aborted ? 'finished' : 'refused'
      await link.report(job.jobId, { state, sentence })
    }
  }

  async #run(job: DevJob, signal: AbortSignal): Promise<string | undefined> {
    const { terminal, prepare, budgetUsd } = this.#options
    const prepared = await prepare(job)
    const { edit } = job
    const arms = planArms(edit !== undefined, job.times)
    terminal.print(describeJob(job, prepared, arms.length, terminal))
    const budget = new Budget(budgetUsd)
    const runs = await Promise.allSettled(
      arms.map((isEdited) => {
        const fork = { stepId: job.stepId, ...(isEdited && { edit }) }
        return this.#runOnce({ ...prepared.spec, fork }, { job, budget, signal })
      }),
    )
    signal.throwIfAborted()
    const lines = runs.map((run) => {
      if (run.status === 'rejected') throw run.reason
      return run.value
    })
    const evidence = renderEvidence(lines, arms, edit ?? {}).filter((line) => line !== '')
    if (evidence.length === 0) return undefined
    terminal.print(evidence.join('\n'))
    return evidence.join(' ')
  }

  async #runOnce(
    spec: RunSpec,
    { job, budget, signal }: { job: DevJob; budget: Budget; signal: AbortSignal },
  ): Promise<RerunLine> {
    const { terminal, link } = this.#options
    await this.#enter(signal)
    try {
      const line = await runInChild(spec, {
        signal,
        budget,
        onEvent: (event) => {
          if (event.kind === 'output') terminal.note(terminal.paint('dim', event.text.trimEnd()))
          else void link.report(job.jobId, { state: 'started', sessionId: event.sessionId })
        },
      })
      terminal.print(describeLine(line, spec.fork?.edit, terminal))
      await link.report(job.jobId, {
        state: 'started',
        line,
        ...(line.session !== null && { sessionId: line.session }),
      })
      return line
    } finally {
      this.#leave()
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    if (this.#running >= this.#options.concurrency)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running += 1
    if (!signal.aborted) return
    this.#leave()
    signal.throwIfAborted()
  }

  /** Hands its place to the next in the queue. */
  #leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#running -= 1
    else next()
  }
}

/** What comes from the server is data, and may be anything. */
function isJob({ jobId, sessionId, stepId, times }: DevJob): boolean {
  const isNamed = /^[\w-]{8,64}$/.test(jobId) && /^[0-9a-f]{32}$/.test(sessionId)
  return isNamed && typeof stepId === 'string' && Number.isInteger(times) && times >= 1 && times <= 20
}

function describeJob(
  { edit }: DevJob,
  { spec, step, number }: PreparedJob,
  runs: number,
  { paint }: Terminal,
): string {
  const change = edit === undefined ? 'unchanged' : `with ${describeEdit(edit)}`
  const from = `from step ${number} (${stepTitle(step)}) of ${shortSessionId(spec.parent.session.id)}`
  return `${paint('cyan', '▸')} ${paint('bold', plainLine(spec.agent))} ${plainLine(`${from}, ${change}`)}: ${countOf(runs, 'run')}`
}

function describeLine(line: RerunLine, edit: ForkEdit | undefined, { paint }: Terminal): string {
  const { session, endState, parentEndState, calls, costUsd, reason, misses } = line
  const end = endState === null ? 'no session' : describeEndState(endState)
  const parts = [
    endState === null ? paint('red', `✗ ${end}`) : paint(endStateColour(endState), end),
    `(recorded: ${describeEndState(parentEndState)})`,
    ...(session === null ? [] : [shortSessionId(session)]),
    edit === undefined ? 'unchanged,' : 'edited,',
    `${calls.taped} from the tape, ${calls.live} live, ${calls.stubbed} stubbed,`,
    formatCost(costUsd),
  ]
  const why = misses[0]?.sentence ?? reason
  return why === undefined ? parts.join(' ') : `${parts.join(' ')}\n  ${plainLine(why)}`
}

function describeProblem(error: unknown): string {
  if (error instanceof CliError || error instanceof ConfigError) return error.message
  return error instanceof Error ? `The run failed: ${error.message}` : String(error)
}
