import { randomBytes, randomUUID } from 'node:crypto'
import type { Job, JobEvent, JobRequest, RunnerAbout } from '../api/schemas/dev.ts'
import { KnownError } from '../errors/known-error.ts'

/** A runner that lost its connection may come back within this time. */
const GONE_AFTER_MS = 10_000
/** A runner that lives takes a job at once, even if it has to wait for its turn. */
const ACCEPT_WITHIN_MS = 5_000
const MAX_RUNNERS = 50
const MAX_OPEN_JOBS = 20
/** Jobs that have ended are kept for pages that missed it. */
const MAX_KEPT_JOBS = 100

type Write = (chunk: Buffer) => boolean
type RunnerEvent = { id: number; name: 'code' | 'job' | 'cancel'; data: { jobId?: string } }

type Runner = RunnerAbout & {
  project: string
  /** Known to the terminal alone: it proves that a connection or a report comes from the same process. */
  secret: string
  /** Pairs one browser. */
  code: string
  tokens: Set<string>
  events: RunnerEvent[]
  lastEventId: number
  connection: { write: Write; end: () => void } | undefined
  /** Runs while it is disconnected. */
  goneTimer: NodeJS.Timeout | undefined
}

type HeldJob = Job & { project: string; runner: Runner; timer?: NodeJS.Timeout | undefined }

/** A page and the browser that it is in. A browser may be paired with several terminals. */
export type PairedPage = { project: string; tokens: readonly string[] }

/**
 * The terminals that run `playhead dev`, the browsers that are paired with them, and the jobs between the two. All of it is
 * in memory: a terminal and its page have to use the same node.
 */
export class DevRunners {
  readonly #runners = new Set<Runner>()
  readonly #jobs = new Map<string, HeldJob>()
  readonly #onJob: (project: string, job: Job) => void

  constructor(onJob: (project: string, job: Job) => void) {
    this.#onJob = onJob
  }

  /** Connects a runner, or one that lost its connection again; `end` is called when its connection has closed. */
  connect(
    { project, secret, about, lastEventId = 0 }: RunnerConnection,
    connection: { write: Write; end: () => void },
  ): { end: () => void } {
    const known = this.#find(project, secret)
    const runner = known ?? this.#add(project, secret, about)
    runner.connection?.end()
    clearTimeout(runner.goneTimer)
    Object.assign(runner, about, { connection, goneTimer: undefined })
    if (known === undefined) this.#send(runner, 'code', { code: runner.code, project })
    else for (const event of runner.events) if (event.id > lastEventId) write(runner, event)
    return {
      end: () => {
        if (runner.connection !== connection) return
        runner.connection = undefined
        runner.goneTimer = setTimeout(() => this.#remove(runner), GONE_AFTER_MS).unref()
      },
    }
  }

  /** Pairs a browser with the runner that showed it this code. The code is then used up, and the runner shows another. */
  pair(project: string, code: string): { token: string; runner: RunnerAbout } {
    const runner = [...this.#runners].find((one) => one.project === project && one.code === code)
    if (runner === undefined)
      throw new KnownError(
        'FORBIDDEN',
        'This pairing code is unknown or was used already. Open the newest link that `playhead dev` printed.',
      )
    const token = makeSecret()
    runner.tokens.add(token)
    runner.code = makeSecret()
    this.#send(runner, 'code', { code: runner.code, project })
    return { token, runner: aboutOf(runner) }
  }

  /** The runners that a browser is paired with, newest first. */
  runnersOf(page: PairedPage): RunnerAbout[] {
    return this.#paired(page).map(aboutOf)
  }

  /** The jobs of these runners, newest first. */
  jobsOf(page: PairedPage): Job[] {
    const runners = new Set(this.#paired(page))
    return [...this.#jobs.values()]
      .filter(({ runner }) => runners.has(runner))
      .map(jobOf)
      .toReversed()
  }

  /** Hands a job to the newest runner that the page is paired with. The same job twice is handed over once. */
  submit(page: PairedPage, request: JobRequest): Job {
    const [runner] = this.#paired(page)
    const known = this.#jobs.get(keyOf(page.project, request.jobId))
    if (known !== undefined && this.#paired(page).includes(known.runner)) return jobOf(known)
    if (known !== undefined) throw new KnownError('CONFLICT', 'Another browser has sent a job with this id.')
    if (runner === undefined)
      throw new KnownError(
        'CONFLICT',
        'This browser is not paired with a terminal, or the terminal is gone. Start one with `npx playhead dev` and open the link that it prints.',
      )
    const open = [...this.#jobs.values()].filter((job) => job.runner === runner && !hasEnded(job))
    if (open.length >= MAX_OPEN_JOBS)
      throw new KnownError(
        'CONFLICT',
        `The terminal already has ${MAX_OPEN_JOBS} jobs. Wait until some have ended.`,
      )
    const { jobId, sessionId, stepId } = request
    const held: HeldJob = {
      jobId,
      sessionId,
      stepId,
      state: 'queued',
      sessionIds: [],
      lines: [],
      project: page.project,
      runner,
    }
    held.timer = setTimeout(
      () => this.#change(held, { state: 'refused', sentence: NO_ANSWER }),
      ACCEPT_WITHIN_MS,
    ).unref()
    this.#keep(held)
    this.#send(runner, 'job', request)
    this.#onJob(page.project, jobOf(held))
    return jobOf(held)
  }

  /** Tells the runner to end a job. */
  cancel(page: PairedPage, jobId: string): Job {
    const job = this.#jobs.get(keyOf(page.project, jobId))
    if (job === undefined || !this.#paired(page).includes(job.runner)) throw jobNotFound(jobId)
    if (job.state === 'queued') this.#change(job, { state: 'refused', sentence: 'It was canceled.' })
    else if (!hasEnded(job)) this.#send(job.runner, 'cancel', { jobId })
    return jobOf(job)
  }

  /** What the runner that has a job says about it. */
  report({ project, secret }: { project: string; secret: string }, jobId: string, event: JobEvent): Job {
    const job = this.#jobs.get(keyOf(project, jobId))
    if (job === undefined || job.runner.secret !== secret) throw jobNotFound(jobId)
    if (hasEnded(job))
      throw new KnownError('CONFLICT', `Job ${jobId} has ended: ${job.sentence ?? 'it has finished'}`)
    if (event.state === 'accepted' && job.state !== 'queued')
      throw new KnownError('CONFLICT', `Job ${jobId} was accepted before.`)
    this.#change(job, event)
    return jobOf(job)
  }

  /** Ends the waiting for runners and answers. */
  close(): void {
    for (const { goneTimer } of this.#runners) clearTimeout(goneTimer)
    for (const { timer } of this.#jobs.values()) clearTimeout(timer)
  }

  #find(project: string, secret: string): Runner | undefined {
    return [...this.#runners].find((one) => one.project === project && one.secret === secret)
  }

  #add(project: string, secret: string, about: NewRunner): Runner {
    if (this.#runners.size >= MAX_RUNNERS)
      throw new KnownError(
        'CONFLICT',
        `${MAX_RUNNERS} terminals are connected already. End one of them first.`,
      )
    const runner: Runner = {
      ...about,
      id: randomUUID(),
      connectedAt: new Date().toISOString(),
      project,
      secret,
      code: makeSecret(),
      tokens: new Set(),
      events: [],
      lastEventId: 0,
      connection: undefined,
      goneTimer: undefined,
    }
    this.#runners.add(runner)
    return runner
  }

  #remove(runner: Runner): void {
    this.#runners.delete(runner)
    for (const job of this.#jobs.values())
      if (job.runner === runner && !hasEnded(job))
        this.#change(job, {
          state: job.state === 'queued' ? 'refused' : 'finished',
          sentence: 'The terminal with `playhead dev` has disconnected.',
        })
  }

  #paired({ project, tokens }: PairedPage): Runner[] {
    return [...this.#runners]
      .filter((runner) => runner.project === project && tokens.some((token) => runner.tokens.has(token)))
      .toReversed()
  }

  #keep(job: HeldJob): void {
    this.#jobs.set(keyOf(job.project, job.jobId), job)
    if (this.#jobs.size <= MAX_KEPT_JOBS) return
    for (const [key, old] of this.#jobs) {
      if (!hasEnded(old)) continue
      this.#jobs.delete(key)
      return
    }
  }

  #change(job: HeldJob, { state, sessionId, line, sentence }: JobEvent): void {
    clearTimeout(job.timer)
    job.state = state
    if (sessionId !== undefined && !job.sessionIds.includes(sessionId)) job.sessionIds.push(sessionId)
    if (line !== undefined) job.lines.push(line as Job['lines'][number])
    if (sentence !== undefined) job.sentence = sentence
    // Nobody may run it later, when the runner reconnects and asks what it missed.
    if (hasEnded(job)) job.runner.events = job.runner.events.filter(({ data }) => data.jobId !== job.jobId)
    this.#onJob(job.project, jobOf(job))
  }

  #send(runner: Runner, name: RunnerEvent['name'], data: object): void {
    runner.lastEventId += 1
    const event: RunnerEvent = { id: runner.lastEventId, name, data }
    runner.events = [...runner.events.filter((other) => name !== 'code' || other.name !== 'code'), event]
    write(runner, event)
  }
}

type NewRunner = Omit<RunnerAbout, 'id' | 'connectedAt'>
type RunnerConnection = {
  project: string
  secret: string
  about: NewRunner
  lastEventId?: number | undefined
}

const NO_ANSWER = 'The terminal with `playhead dev` did not answer within five seconds.'

function write({ connection }: Runner, { id, name, data }: RunnerEvent): void {
  connection?.write(Buffer.from(`id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`))
}

/** Too long to be guessed. */
function makeSecret(): string {
  return randomBytes(16).toString('base64url')
}

function keyOf(project: string, jobId: string): string {
  return `${project}\0${jobId}`
}

function hasEnded({ state }: Job): boolean {
  return state === 'refused' || state === 'finished'
}

function aboutOf({ id, host, pid, version, agents, connectedAt }: Runner): RunnerAbout {
  return { id, host, pid, version, agents, connectedAt }
}

function jobOf({ jobId, sessionId, stepId, state, sessionIds, sentence, lines }: HeldJob): Job {
  return {
    jobId,
    sessionId,
    stepId,
    state,
    sessionIds: [...sessionIds],
    lines: [...lines],
    ...(sentence !== undefined && { sentence }),
  }
}

function jobNotFound(jobId: string): KnownError {
  return new KnownError('NOT_FOUND', `There is no job ${jobId} that you may see.`)
}
