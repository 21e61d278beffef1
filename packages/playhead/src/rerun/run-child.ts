import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  alignSessions,
  describeFirstDivergence,
  liveSides,
  visibleText,
  type Alignment,
  type Budget,
  type Session,
  type Step,
} from '@playhead/model'
import { runEnvironment } from '../runtime/run-settings.ts'
import { runChild, type ChildEnd } from './child-process.ts'
import { ConfigError } from './config-file.ts'
import { knownConfig } from './load-config.ts'
import type { FromChild, RerunLine, RunEnd, RunReport, RunSpec } from './messages.ts'
import { placeholderKeys } from './placeholder-keys.ts'

export type RunEvent =
  | { kind: 'started'; sessionId: string }
  /** What the agent printed, to either stream. */
  | { kind: 'output'; text: string }

export type RunOptions = {
  onEvent?: ((event: RunEvent) => void) | undefined
  /** Ends the run and everything that it started; `runInChild` then throws the signal's reason. */
  signal?: AbortSignal | undefined
  /** Asked before every live call. */
  budget?: Pick<Budget, 'reserve' | 'settle'> | undefined
  /** 10 minutes by default. */
  timeoutMs?: number | undefined
}

const TIMEOUT_MS = 600_000

/** Runs an agent again in a process of its own and compares what it did with the recorded session. */
export async function runInChild(spec: RunSpec, options: RunOptions = {}): Promise<RerunLine> {
  const config = await knownConfig(spec.configFile)
  const agent = config.agents.find(({ name }) => name === spec.agent)
  const live = liveSides(spec.lane, true)
  const isModelTaped = spec.onMiss === 'fail' && !live.model
  const isStrict = isModelTaped && !live.tools
  const timeout = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS)
  const signal = options.signal === undefined ? timeout : AbortSignal.any([options.signal, timeout])
  const run = new RunInProgress(options)
  const end = await runChild({
    configFile: spec.configFile,
    imports: config.imports,
    environment: {
      ...(isModelTaped && placeholderKeys()),
      ...agent?.env,
      ...runEnvironment({
        endpoint: spec.endpoint,
        apiKey: spec.apiKey,
        project: spec.project,
        dir: spec.dir,
        identity: { parentId: spec.parent.session.id, lane: spec.lane },
        isStrict,
        allowSpawn: [...config.allowSpawn, ...programsOfLoaders(config.imports)],
      }),
    },
    message: { kind: 'run', spec, hasBudget: options.budget !== undefined },
    onMessage: (message, child) => run.onMessage(message, child),
    onOutput: (text) => options.onEvent?.({ kind: 'output', text }),
    signal,
  })
  run.settleRest()
  options.signal?.throwIfAborted()
  if (run.failure !== undefined) throw new ConfigError(run.failure)
  return toLine(spec.parent, run.report, {
    lane: spec.lane,
    model: spec.model ?? spec.fork?.edit?.model,
    reason: reasonOf(run.report, end, timeout.aborted),
  })
}

/** What compiles the agent on the way, as tsx does with esbuild, is no part of what it does. */
function programsOfLoaders(imports: readonly string[]): string[] {
  return imports.length === 0 ? [] : ['esbuild']
}

class RunInProgress {
  report: RunReport | undefined
  /** Why the config could not be loaded. */
  failure: string | undefined
  readonly #options: RunOptions
  /** What calls have reserved that are not over. */
  readonly #reserved: number[] = []
  #isOver = false

  constructor(options: RunOptions) {
    this.#options = options
  }

  onMessage(message: FromChild, child: ChildProcess): void {
    const { onEvent } = this.#options
    switch (message.kind) {
      case 'config':
        return
      case 'config-failed':
        this.failure = message.sentence
        return
      case 'started':
        return onEvent?.({ kind: 'started', sessionId: message.sessionId })
      case 'reserve':
        void this.#reserve(message, child)
        return
      case 'settle':
        return this.#settle(message.reservedUsd, message.actualUsd)
      case 'finished':
        this.report = message.report
    }
  }

  async #reserve({ id, usd }: { id: number; usd: number }, child: ChildProcess): Promise<void> {
    const { budget } = this.#options
    const isGranted = budget === undefined || (await reserveSoon(budget, usd))
    if (isGranted) this.#reserved.push(usd)
    if (this.#isOver) this.settleRest()
    else child.send({ kind: 'reserved', id, isGranted }, () => undefined)
  }

  #settle(reservedUsd: number, actualUsd: number): void {
    const index = this.#reserved.indexOf(reservedUsd)
    if (index < 0) return
    this.#reserved.splice(index, 1)
    this.#options.budget?.settle(reservedUsd, actualUsd)
  }

  /** The process has ended: nobody will say what its open calls cost, so they count as the most. */
  settleRest(): void {
    this.#isOver = true
    for (const usd of this.#reserved.splice(0)) this.#options.budget?.settle(usd, usd)
  }
}

/** An agent may wait for two answers at once before it reads the first, so that neither is ever over. */
const RESERVE_WITHIN_MS = 60_000

async function reserveSoon(budget: Pick<Budget, 'reserve' | 'settle'>, usd: number): Promise<boolean> {
  const reserving = budget.reserve(usd)
  const waiting = new AbortController()
  const isLate = sleep(RESERVE_WITHIN_MS, true, { signal: waiting.signal }).catch(() => true)
  const decided = await Promise.race([reserving, isLate.then(() => undefined)])
  waiting.abort()
  if (decided !== undefined) return decided
  void reserving.then((isGranted) => isGranted && budget.settle(usd, 0))
  return false
}

function reasonOf(report: RunReport | undefined, end: ChildEnd, isTimeout: boolean): string | undefined {
  if (isTimeout) return 'The run took too long and was stopped.'
  if (report === undefined)
    return end.signal === null
      ? `The process of the run ended with ${end.code} before it could report.`
      : `The process of the run was ended by ${end.signal}.`
  if (report.reason !== undefined) return report.reason
  if (report.session === null) return `The agent recorded nothing. ${describeEnd(report.ended)}`.trim()
  return report.ended.kind === 'returned' ? undefined : describeEnd(report.ended)
}

function describeEnd(ended: RunEnd): string {
  switch (ended.kind) {
    case 'returned':
      return 'Does its `run` in the config return before the work is done, or in another process?'
    case 'threw':
      return `The agent threw: ${visibleText(ended.message)}`
    case 'exited':
      return `The agent ended its process with process.exit(${ended.code}).`
    case 'stopped':
      return 'The agent went on after it had missed something, so it was stopped.'
    case 'stuck':
      return 'The agent waited for something that never happens: nothing was left that could wake it.'
  }
}

function toLine(
  parent: Session,
  report: RunReport | undefined,
  { lane, model, reason }: { lane: RerunLine['lane']; model: string | undefined; reason: string | undefined },
): RerunLine {
  const session = report?.session ?? null
  const alignment =
    session === null ? undefined : alignSessions(withModel(parent, model), withModel(session, model))
  const misses = report?.misses ?? []
  const isSame = alignment?.divergence === null
  // An agent that threw when it was recorded does so again.
  const isExpected = isSame && report?.ended.kind === 'threw'
  return {
    parent: parent.session.id,
    session: session?.session.id ?? null,
    lane,
    verdict: misses.length > 0 ? 'missed' : isSame ? 'same' : 'diverged',
    endState: session?.session.endState ?? null,
    parentEndState: parent.session.endState,
    calls: report?.calls ?? { taped: 0, live: 0, stubbed: 0 },
    divergence: alignment === undefined ? null : describeDivergence(alignment),
    misses: misses.map(({ step, message, field, words, sentence }) => ({
      step: step ?? null,
      message: message ?? null,
      field: field ?? null,
      ...(words !== undefined && { words }),
      sentence,
    })),
    ...(reason !== undefined && !isExpected && { reason }),
    costUsd: report?.costUsd ?? 0,
    unused: report?.unused ?? [],
    ...(report !== undefined && {
      mapped: report.mapped,
      otherSessions: report.otherSessions,
      ...(report.file !== undefined && { file: report.file }),
      ...(report.notes.length > 0 && { notes: report.notes }),
    }),
  }
}

/** Another model that was asked for is no divergence. */
function withModel(session: Session, model: string | undefined): Session {
  if (model === undefined) return session
  const steps = session.steps.map((step): Step => {
    if (step.kind !== 'llm') return step
    const { requestedModel: _requested, ...rest } = step
    return { ...rest, model, name: model }
  })
  return { ...session, steps }
}

function describeDivergence(alignment: Alignment): RerunLine['divergence'] {
  const { divergence, rows } = alignment
  if (divergence === null) return null
  const row = divergence.row === undefined ? undefined : rows[divergence.row]
  return { step: row?.bNumber ?? row?.aNumber ?? null, sentence: describeFirstDivergence(alignment) ?? '' }
}
