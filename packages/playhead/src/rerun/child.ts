// The process of a re-run: loads the config of a project, and runs one of its agents from the tape.
import { writeSync } from 'node:fs'
import { Buffer } from 'node:buffer'
import { visibleText } from '@playhead/model'
import type { TapeRequest } from '../record/session/active-tape.ts'
import { readRunSettings } from '../runtime/run-settings.ts'
import { ConfigError, importConfig } from './config-file.ts'
import type { PlayheadConfig } from './config.ts'
import { killLeftovers, RUN_MARK } from './leftovers.ts'
import type { FromChild, ToChild } from './messages.ts'

const REPORTS = 3

process.once('message', (message: ToChild) => {
  // From here on, only the agent's own work keeps the process alive.
  process.channel?.unref()
  void answer(message)
})
// The command that started this process was killed: nothing that the agent started may outlive it.
process.once('disconnect', () => {
  if (isDone) return
  killLeftovers(process.env[RUN_MARK] ?? '')
  process.kill(process.platform === 'win32' ? process.pid : -process.pid, 'SIGKILL')
})

let isDone = false
process.once('exit', () => {
  isDone = true
})

async function answer(message: ToChild): Promise<void> {
  if (message.kind === 'reserved') return
  try {
    if (message.kind === 'describe') {
      const config = await describeConfig(message.configFile)
      report({ kind: 'config', outline: outlineOf(config), matched: matchOf(config, message) })
    } else {
      const { runAgentOnTape } = await import('./run-agent.ts')
      await runAgentOnTape(message, report)
    }
  } catch (error) {
    const needsLoader = error instanceof ConfigError && error.needsLoader
    const sentence = error instanceof ConfigError ? error.message : String((error as Error).stack ?? error)
    report({ kind: 'config-failed', sentence, needsLoader })
  }
  isDone = true
  process.exit()
}

/** A config that can't be loaded may only lack the network. */
async function describeConfig(file: string): Promise<PlayheadConfig> {
  const refused = readRunSettings()?.isStrict === true ? await refuseNetwork() : []
  try {
    return await importConfig(file)
  } catch (error) {
    const [first] = refused
    if (first === undefined || !(error instanceof ConfigError)) throw error
    throw new ConfigError(`${error.message}\n${first}`, error.needsLoader)
  }
}

async function refuseNetwork(): Promise<readonly string[]> {
  const { raiseWall } = await import('../tape/play-tape.ts')
  const explain = ({ method, url }: TapeRequest) =>
    visibleText(
      `The config, or what it imports, asks for ${method} ${url.origin}${url.pathname} as soon as it is loaded. Nothing reaches the network here: ask for it when the agent runs, in a function that recordTool wraps.`,
    )
  return raiseWall({ allowSpawn: 'all', explain })
}

/** Waits until it is written, which also works while the process exits. */
function report(message: FromChild): void {
  const bytes = Buffer.from(`${JSON.stringify(message)}\n`)
  for (let written = 0; written < bytes.length;) written += writeSync(REPORTS, bytes, written)
}

function outlineOf({ agents, cassettes, allowSpawn = [] }: PlayheadConfig) {
  return {
    agents: Object.entries(agents).map(([name, { matches, env }]) => ({
      name,
      hasMatches: matches !== undefined,
      env,
    })),
    cassettes,
    allowSpawn,
  }
}

function matchOf(
  { agents }: PlayheadConfig,
  { session }: Extract<ToChild, { kind: 'describe' }>,
): string | undefined {
  if (session === undefined) return undefined
  return Object.entries(agents).find(([, { matches }]) => matches?.(session) === true)?.[0]
}
