import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { visibleText, type Session, type SessionSummary } from '@playhead/model'
import { runEnvironment } from '../runtime/run-settings.ts'
import { findPackage, runChild } from './child-process.ts'
import { agentLine, ConfigError, findConfigFile } from './config-file.ts'
import type { ConfigOutline, FromChild } from './messages.ts'
import { placeholderKeys } from './placeholder-keys.ts'

/** What a config says, without the functions in it: they, and the agent that they import, run in a child process. */
export type LoadedConfig = ConfigOutline & {
  file: string
  folder: string
  /** What Node has to import before it can load the config. */
  imports: readonly string[]
}

export type LoadOptions = {
  /** The file, if it is not to be looked for. */
  explicit?: string | undefined
  /** The name for the lines to write if there is no config. */
  agent?: string | undefined
  /** Refuses what the config and its imports ask of the network while they are loaded. */
  isOffline?: boolean | undefined
}

/** Reads the config that is found from a folder upwards, or the one that is named. */
export async function loadConfig(from: string, options: LoadOptions = {}): Promise<LoadedConfig> {
  const { explicit, agent, isOffline = false } = options
  const file = findConfigFile(from, explicit, agent)
  const named = readImports(file)
  const first = await describe(file, { imports: named, isOffline })
  if (first.kind === 'config') return loaded(file, named, first.outline)
  const withTsx = [...named, 'tsx']
  const mayHelp = first.needsLoader && !named.includes('tsx') && findPackage('tsx', file) !== undefined
  if (!mayHelp) throw new ConfigError(first.sentence)
  const second = await describe(file, { imports: withTsx, isOffline })
  if (second.kind === 'config-failed') throw new ConfigError(second.sentence)
  return loaded(file, withTsx, second.outline)
}

const known = new Map<string, LoadedConfig>()

/** A config that was loaded before. */
export async function knownConfig(file: string): Promise<LoadedConfig> {
  return known.get(file) ?? loadConfig(dirname(file), { explicit: file })
}

function loaded(file: string, imports: readonly string[], outline: ConfigOutline): LoadedConfig {
  const config = { ...outline, file, folder: dirname(file), imports }
  known.set(file, config)
  return config
}

/** Read as text: they are needed to load the config at all. */
function readImports(file: string): string[] {
  const [, list = ''] = /\bimports\s*:\s*\[([^\]]*)\]/.exec(readFileSync(file, 'utf8')) ?? []
  return [...list.matchAll(/(['"])(.+?)\1/g)].map(([, , name]) => name!)
}

type Described = Extract<FromChild, { kind: 'config' | 'config-failed' }>

async function describe(
  configFile: string,
  {
    imports,
    isOffline = false,
    session,
  }: Pick<LoadedConfig, 'imports'> & Pick<LoadOptions, 'isOffline'> & { session?: SessionSummary },
): Promise<Described> {
  let described: Described | undefined
  let output = ''
  const { code, signal } = await runChild({
    configFile,
    imports,
    environment: {
      ...placeholderKeys(),
      // Which programs may start is not known before the config is loaded.
      ...runEnvironment({ isStrict: isOffline, allowSpawn: 'all' }),
    },
    message: { kind: 'describe', configFile, session },
    onMessage: (message) => {
      if (message.kind === 'config' || message.kind === 'config-failed') described = message
    },
    onOutput: (text) => (output += text),
  })
  if (described !== undefined) return described
  const how = signal === null ? `exited with ${code}` : `was ended by ${signal}`
  throw new ConfigError(
    `${basename(configFile)} can't be loaded: the process that imported it ${how}.\n${visibleText(output.trim())}`,
  )
}

/**
 * The agent of the config that made a session. In a session of a test, which the agent's own session is a part of, the
 * part is returned as the session.
 */
export async function findAgent(
  config: LoadedConfig,
  session: Session,
): Promise<{ agent: string; session: Session }> {
  const { name } = session.session
  const byName = config.agents.filter(({ hasMatches }) => !hasMatches)
  if (byName.length < config.agents.length) {
    const described = await describe(config.file, { imports: config.imports, session: session.session })
    if (described.kind === 'config' && described.matched !== undefined)
      return { agent: described.matched, session }
  }
  if (byName.some((agent) => agent.name === name)) return { agent: name, session }
  for (const step of session.steps) {
    const part = step.parentId === null ? undefined : step.attributes?.['playhead.session.name']
    const agent = byName.find((candidate) => candidate.name === part)
    if (agent !== undefined) return { agent: agent.name, session: narrow(session, step.id) }
  }
  throw new UnknownAgentError(name, config)
}

/** No agent of the config makes sessions of this name. */
export class UnknownAgentError extends ConfigError {
  readonly agent: string

  constructor(agent: string, { file, agents }: LoadedConfig) {
    const names = agents.map(({ name }) => visibleText(name)).join(', ')
    super(`No agent in ${basename(file)} makes sessions named "${visibleText(agent)}". Add it:

  agents: {
    ${agentLine(agent)}
  },

Its agents: ${names === '' ? 'none' : names}.`)
    this.agent = agent
  }
}

/** The steps below one step, as a session. */
function narrow({ session, steps }: Session, rootId: string): Session {
  const kept = new Set([rootId])
  // A step starts after the one that it is in, but clocks may differ: repeat until nothing is added.
  for (let size = 0; size < kept.size;) {
    size = kept.size
    for (const { id, parentId } of steps) if (parentId !== null && kept.has(parentId)) kept.add(id)
  }
  const inside = steps.filter(({ id }) => kept.has(id))
  const hasFailed = steps.find(({ id }) => id === rootId)?.status === 'error'
  return {
    session: { ...session, stepCount: inside.length, endState: hasFailed ? 'fail' : 'success' },
    steps: inside.map((step) => (step.id === rootId ? { ...step, parentId: null } : step)),
  }
}
