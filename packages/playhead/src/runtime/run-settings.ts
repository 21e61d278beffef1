import { ActiveRun, activeRun, setRun, type RunIdentity } from '../record/session/active-run.ts'
import type { Settings } from './settings.ts'

/** Where a re-run is recorded. It wins over what the agent passes to `init`, which may name a production server. */
export type RunSettings = {
  /** Undefined: nothing is sent. */
  endpoint?: string | undefined
  apiKey?: string | undefined
  project?: string | undefined
  /** Writes the session to a file in this folder. */
  dir?: string | undefined
  /** The session that is run again, and how. */
  identity?: RunIdentity | undefined
  /** True if nothing may reach the network. */
  isStrict: boolean
  /** Commands that the agent may start nevertheless. */
  allowSpawn: readonly string[] | 'all'
}

const VARIABLE = 'PLAYHEAD_RERUN'
/** A re-run has no spool, so what it can't deliver now is lost. Only whoever started it waits. */
const MAX_EXIT_DELAY_MS = 10_000

/** Worker threads and child processes inherit it. */
export function runEnvironment(settings: RunSettings): Record<string, string> {
  return { [VARIABLE]: JSON.stringify(settings) }
}

/** What the process was started with; undefined unless it is a re-run. */
export function readRunSettings(environment = process.env): RunSettings | undefined {
  const text = environment[VARIABLE]
  return text === undefined || text === '' ? undefined : (JSON.parse(text) as RunSettings)
}

export function imposeRunSettings(settings: Settings, run = readRunSettings()): Settings {
  if (run === undefined) return settings
  const { endpoint, apiKey, project, dir, identity } = run
  // In worker threads and programs that the agent starts: what they record is no run of its own either.
  if (identity !== undefined && activeRun() === undefined)
    setRun(new ActiveRun(identity, { onStart: () => undefined }))
  return {
    ...settings,
    endpoint,
    apiKey,
    project,
    dir,
    spool: undefined,
    maxExitDelayMs: MAX_EXIT_DELAY_MS,
    isLlmCaptured: true,
  }
}
