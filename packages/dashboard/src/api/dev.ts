import type { ApiBodies, ApiResponses } from '@playhead/server/api-types'
import { callApi, apiPath } from './call-api.ts'
import { checkConnection } from './connection.ts'
import { DEFAULT_PROJECT } from './projects.ts'

type Dev = ApiResponses['GET /api/dev']
/** A terminal with `playhead dev` that this browser is paired with. */
export type Runner = Dev['runners'][number]
export type ForkJob = ApiBodies['POST /api/dev/jobs']
export type Job = Dev['jobs'][number]

type JobWatch = {
  /** Resolves once events arrive. */
  opened: Promise<void>
  stop: () => void
}

/** Starts runs in the terminal that this browser is paired with. */
export type DevSource = {
  /** Whether this browser was ever paired: then no runner means that it is gone. */
  isPaired: () => boolean
  read: (signal?: AbortSignal) => Promise<Dev>
  startJob: (job: ForkJob) => Promise<Job>
  cancelJob: (jobId: string) => Promise<Job>
  /** `onMissed` is called when events may have been lost. */
  watchJobs: (onJob: (job: Job) => void, onMissed: () => void) => JobWatch
}

export const serverDevSource: DevSource = {
  isPaired: () => readTokens().length > 0,
  read: (signal) => callApi('GET /api/dev', { headers: pairingHeader(), signal }),
  startJob: (body) => callApi('POST /api/dev/jobs', { headers: pairingHeader(), body }),
  cancelJob: (id) => callApi('DELETE /api/dev/jobs/{id}', { headers: pairingHeader(), path: { id } }),
  watchJobs,
}

const MAX_TOKENS = 5

/** Exchanges the one-time code that `playhead dev` prints for a token, which this browser keeps. */
export async function pairWith(code: string): Promise<Runner> {
  const { token, runner } = await callApi('POST /api/dev/pair', { body: { code } })
  localStorage.setItem(tokensKey(), [token, ...readTokens()].slice(0, MAX_TOKENS).join(','))
  return runner
}

function tokensKey(): string {
  return `playhead.pairing.${pageProject()}`
}

function readTokens(): string[] {
  return localStorage.getItem(tokensKey())?.split(',') ?? []
}

function pairingHeader(): Record<string, string> {
  return { 'x-playhead-pairing': readTokens().join(',') }
}

function pageProject(): string {
  return new URLSearchParams(location.search).get('project') ?? DEFAULT_PROJECT
}

function watchJobs(onJob: (job: Job) => void, onMissed: () => void): JobWatch {
  const events = new EventSource(apiPath('/api/live', { project: pageProject(), only: 'job' }))
  events.addEventListener('job', ({ data }: MessageEvent<string>) => onJob(JSON.parse(data) as Job))
  events.addEventListener('reset', onMissed)
  const opened = new Promise<void>((resolve, reject) => {
    events.addEventListener('open', () => resolve())
    events.addEventListener('error', () => {
      void checkConnection()
      if (events.readyState === EventSource.CLOSED) reject(new Error('The live feed was rejected.'))
    })
  })
  // Whoever starts a job awaits it; without a job nobody does.
  opened.catch(() => {})
  return { opened, stop: () => events.close() }
}
