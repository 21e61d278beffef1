import type { AgentInput, Effect, Session, SessionSummary } from '@playhead/model'

export type { AgentInput } from '@playhead/model'

export type AgentRunContext = {
  /** Aborted when the run is stopped. */
  signal: AbortSignal
  /** The session that is run again. */
  session: SessionSummary
}

/** How an agent is started, and what a run without its tape may do. */
export type AgentConfig = {
  /** Runs the agent in this process, as your program does. */
  run: (input: AgentInput, context: AgentRunContext) => unknown
  /** Whether this agent made a session. By default its name decides, or that of a part of it. */
  matches?: ((session: SessionSummary) => boolean) | undefined
  /** Finds the input of a session, instead of what was recorded as its input. */
  input?: ((session: Session) => unknown) | undefined
  /** The effects of actions that don't declare one. In live runs, these count as writes. */
  effects?: Readonly<Record<string, Effect>> | undefined
  /** What a write returns when it is not made: a value, or a function of its arguments. */
  stubs?: Readonly<Record<string, unknown>> | undefined
  /** `run`: runs an action although the tape has its result. `serve`: serves one that holds model calls. */
  replay?: Readonly<Record<string, 'run' | 'serve'>> | undefined
  /** Text that differs from run to run, besides ids and times. */
  volatile?: readonly RegExp[] | undefined
  /** Environment variables of the run. */
  env?: Readonly<Record<string, string>> | undefined
}

export type PlayheadConfig = {
  /** The name of its sessions → how the agent is started. */
  agents: Readonly<Record<string, AgentConfig>>
  /** The folder of cassettes; by default `__cassettes__` beside the test. */
  cassettes?: string | undefined
  /** Commands that an agent may start while nothing may reach the network. */
  allowSpawn?: readonly string[] | undefined
  /** Modules to import first, for example "tsx", if Node can't load your code by itself. Write the list out. */
  imports?: readonly string[] | undefined
}

/**
 * Types `playhead.config.ts`, which says how your agents are started.
 *
 * @example
 * export default defineConfig({
 *   agents: { support: { run: (input) => runSupportAgent(input.text) } },
 * })
 */
export function defineConfig(config: PlayheadConfig): PlayheadConfig {
  return config
}
