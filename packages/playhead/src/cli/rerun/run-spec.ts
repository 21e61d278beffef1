import { resolve } from 'node:path'
import { findTapeGaps, visibleText, type Session, type TapeGap } from '@playhead/model'
import { ConfigError } from '../../rerun/config-file.ts'
import { findAgent, loadConfig, type LoadedConfig } from '../../rerun/load-config.ts'
import type { RerunLine, RunSpec } from '../../rerun/messages.ts'
import { Api } from '../client/api.ts'
import { isRecordingFile, readSession } from '../client/read-session.ts'
import type { SessionPage } from '../client/sessions.ts'
import type { Settings } from '../client/settings.ts'
import { UsageError } from '../terminal/cli-error.ts'
import type { Terminal } from '../terminal/terminal.ts'

export type RunSource = {
  /** What the user typed: a session, or the file of a recording. */
  typed: string
  /** `--config`. */
  configFile: string | undefined
  /** Loaded before; by default it is looked for. */
  config?: LoadedConfig | undefined
  /** `--out`: the folder for the recording of the re-run. */
  folder?: string | undefined
  /** Nothing may reach the network, not even while the config is loaded. */
  isOffline?: boolean | undefined
  /** Runs it although parts of it were not recorded. */
  isForced: boolean
  terminal: Terminal
  settings: Settings
}

/** What is needed to run a session again, besides how. */
export type PreparedRun = Pick<
  RunSpec,
  'configFile' | 'agent' | 'parent' | 'thread' | 'endpoint' | 'apiKey' | 'project' | 'dir'
> & {
  config: LoadedConfig
  /** The whole session; the parent is the part of it that the agent made. */
  recorded: Session
}

/** Recordings of re-runs are written here, where the SDK writes them too. */
const RECORDINGS = '.playhead'

/** Reads a session and finds the agent that made it. Throws with the reason if it can't be run again. */
export async function prepareRun(source: RunSource): Promise<PreparedRun> {
  const { typed, configFile, settings, terminal } = source
  const isFile = typed === '-' || isRecordingFile(typed)
  const whole = { errorsOnly: false, isJson: true }
  const session = await readSession(typed, whole, { terminal, settings, isRerunLeftOut: true })
  const config =
    source.config ??
    (await loadConfig(process.cwd(), {
      explicit: configFile,
      agent: session.session.name,
      isOffline: source.isOffline,
    }))
  const found = await findAgent(config, session)
  if (!source.isForced) requireWhole(found.session)
  return {
    config,
    recorded: session,
    configFile: config.file,
    agent: found.agent,
    parent: found.session,
    ...(isFile ? { dir: resolve(RECORDINGS) } : await serverOf(settings, session)),
    ...(source.folder !== undefined && { dir: resolve(source.folder) }),
  }
}

/** Where the re-run of a session on a server goes, and the earlier turns of its conversation. */
async function serverOf(settings: Settings, session: Session): Promise<Partial<RunSpec>> {
  const { endpoint, apiKey, project } = settings
  const api = await Api.connect(settings, 'read')
  await requireKey(api)
  return { endpoint, apiKey, project, thread: await readThread(api, session) }
}

/** Throws if re-runs can't be recorded: the password reads sessions, but does not send any. */
export async function requireKey(api: Api): Promise<void> {
  const { apiKey, password } = api.settings
  if (apiKey !== undefined || password === undefined) return
  const { isAuthOn } = await api.json<{ isAuthOn: boolean }>('/api/me')
  if (isAuthOn)
    throw new UsageError(
      'The re-run is recorded like any session, which needs a key of the project: pass one with --api-key or PLAYHEAD_API_KEY.',
    )
}

const MAX_TURNS = 20

async function readThread(api: Api, { session }: Session): Promise<Session[]> {
  if (session.threadId === undefined) return []
  const { sessions } = await api.json<SessionPage>('/api/sessions', {
    query: { thread: session.threadId, to: session.startedAt, reruns: 'exclude', limit: String(MAX_TURNS) },
  })
  const earlier = sessions.filter(({ id }) => id !== session.id).toReversed()
  return Promise.all(
    earlier.map(({ id }) => api.json<Session>(`/api/sessions/${id}`, { query: { payloads: 'all' } })),
  )
}

/** A session that can't be run again, because parts of it were not recorded. */
export class GapsError extends ConfigError {
  readonly #session: Session
  readonly #gaps: readonly { step: number | null; sentence: string }[]

  constructor(session: Session, gaps: readonly TapeGap[]) {
    const numbers = new Map(session.steps.map(({ id }, index) => [id, index + 1]))
    const found = gaps.map(({ stepId, sentence }) => ({ step: numbers.get(stepId) ?? null, sentence }))
    const lines = found.map(({ step, sentence }) => `  step ${step ?? '?'} ${sentence}`)
    super(`${visibleText(session.session.name)} can't be run again from what was recorded:
${[...new Set(lines)].join('\n')}
With --force it runs until it needs one of them.`)
    this.#session = session
    this.#gaps = found
  }

  /** The line of `--json` for a session that was not run. */
  get line(): RerunLine {
    const { id, endState } = this.#session.session
    return {
      parent: id,
      session: null,
      lane: 'tape',
      verdict: 'missed',
      endState: null,
      parentEndState: endState,
      calls: { taped: 0, live: 0, stubbed: 0 },
      divergence: null,
      misses: this.#gaps.map((gap) => ({ ...gap, message: null, field: null })),
      reason: this.message,
      costUsd: 0,
    }
  }
}

/** Throws with what of the session was not recorded, if that keeps it from being run again. */
export function requireWhole(session: Session): void {
  const gaps = findTapeGaps(session)
  if (gaps.length > 0) throw new GapsError(session, gaps)
}
