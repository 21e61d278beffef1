import { dirname } from 'node:path'
import { requireText, visibleText, type AgentInput } from '@playhead/model'
import { getSession } from 'playhead'
import { activeTape } from '../../record/session/active-tape.ts'
import { agentLine, ConfigError, findConfigFile, importConfig } from '../../rerun/config-file.ts'
import type { CassetteTape } from '../../tape/cassette-tape.ts'
import { captureDefinition, callerFile } from './test-location.ts'

/** What an agent is given: its text, or more of what a recorded session would give it. */
export type RunInput = string | Partial<Pick<AgentInput, 'text' | 'value' | 'args' | 'messages'>>

export type RunAgentOptions = {
  /** The config, if it is not `playhead.config.ts` in the folder of the test or above. */
  config?: string | undefined
  signal?: AbortSignal | undefined
}

let load: ((file: string) => Promise<unknown>) | undefined

/** Runners load modules in their own way, with the transforms and mocks of the tests. */
export function loadConfigsWith(given: (file: string) => Promise<unknown>): void {
  load = given
}

/**
 * Runs an agent of your `playhead.config.ts` in this process, and returns what its `run` returns.
 *
 * @example
 * await runAgent("support", { text: "I was charged twice for my subscription" })
 */
export async function runAgent(
  name: string,
  input: RunInput,
  { config, signal = new AbortController().signal }: RunAgentOptions = {},
): Promise<unknown> {
  const from = callerFile(captureDefinition(runAgent))
  const file = findConfigFile(
    from === undefined ? process.cwd() : dirname(from),
    config,
    requireText(name, 'The agent'),
  )
  const { agents } = await importConfig(file, load)
  const agent = agents[name]
  if (agent === undefined)
    throw new ConfigError(
      `${visibleText(file)} has no agent ${visibleText(name)}. Add it to its agents: ${agentLine(name)}`,
    )
  Object.assign(process.env, agent.env)
  ;(activeTape() as Partial<CassetteTape> | undefined)?.setRules?.(agent)
  const { session } = getSession().toJSON()
  const given = typeof input === 'string' ? { text: input } : input
  const { text = '', value = text } = given
  return agent.run(
    { messages: [], from: 'session', thread: [], session, ...given, text, value },
    { signal, session },
  )
}
