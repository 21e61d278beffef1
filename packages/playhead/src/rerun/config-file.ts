import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isRecord, visibleText } from '@playhead/model'
import type { PlayheadConfig } from './config.ts'

/** Something about the config that the user has to change; the message says what. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  /** True if a loader like tsx may be able to load the file. */
  readonly needsLoader: boolean

  constructor(message: string, needsLoader = false) {
    super(message)
    this.needsLoader = needsLoader
  }
}

const fileNames = ['ts', 'mts', 'js', 'mjs'].map((extension) => `playhead.config.${extension}`)

/** Looks for the config in a folder and those above it, unless `explicit` names it. */
export function findConfigFile(from: string, explicit?: string, agent = 'support'): string {
  if (explicit !== undefined) {
    const file = resolve(from, explicit)
    if (existsSync(file)) return file
    throw new ConfigError(`There is no file ${visibleText(file)}.`)
  }
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const found = fileNames.map((name) => join(folder, name)).find(existsSync)
    if (found !== undefined) return found
    if (dirname(folder) === folder) break
  }
  throw new ConfigError(
    `There is no playhead.config.ts in ${visibleText(resolve(from))} or above it. It says how your agent is started:

import { defineConfig } from 'playhead'
import { runAgent } from './src/agent.ts'

export default defineConfig({
  agents: {
    ${agentLine(agent)}
  },
})`,
  )
}

/** The line to add to a config for the agent of that name. */
export function agentLine(name: string): string {
  const key = /^[A-Za-z_$][\w$]*$/.test(name)
    ? name
    : `'${visibleText(name).replaceAll("'", String.raw`\'`)}'`
  return `${key}: { run: (input) => runAgent(input.text) },`
}

/**
 * Imports a config into this process, in the way of Node or that of a test runner. Throws a `ConfigError` that says why it
 * can't.
 */
export async function importConfig(
  file: string,
  load: (file: string) => Promise<unknown> = (path) => import(pathToFileURL(path).href),
): Promise<PlayheadConfig> {
  let module: unknown
  try {
    module = await load(file)
  } catch (error) {
    throw explainLoadError(error, file)
  }
  return checkConfig(module, basename(file))
}

function checkConfig(module: unknown, name: string): PlayheadConfig {
  const exported: unknown = isRecord(module) ? module.default : undefined
  // A CommonJS module that a compiler wrote.
  const config = isRecord(exported) && isRecord(exported.default) ? exported.default : exported
  if (!isRecord(config) || !isRecord(config.agents))
    throw new ConfigError(
      `${name} has no agents. Export them: export default defineConfig({ agents: { ${agentLine('support')} } })`,
    )
  for (const [agent, settings] of Object.entries(config.agents))
    if (!isRecord(settings) || typeof settings.run !== 'function')
      throw new ConfigError(`${name}: agents.${visibleText(agent)}.run must be a function.`)
  return config as unknown as PlayheadConfig
}

/** Why Node could not load a config, and the two ways out if the reason is TypeScript. */
function explainLoadError(error: unknown, file: string): ConfigError {
  const { code, message, stack = '' } = toError(error)
  const place =
    placeOf(stack) ?? (error instanceof SyntaxError ? placeOf(printedError(file)) : thrownAt(stack))
  const show = (path: string) => visibleText(relative(dirname(file), toPath(path)) || basename(path))
  const at = place === undefined ? basename(file) : `${show(place.path)}:${place.line}`
  const name = basename(file)
  const construct = constructOf({ code, message, source: place?.source ?? '' })
  if (construct !== undefined)
    return new ConfigError(
      `${name} can't be loaded: ${at} has ${construct}, which Node does not run by itself. ${waysOut}`,
      true,
    )
  const missing = /^Cannot find (?:module|package) '(.+)' imported from (.+)$/.exec(message)
  if (code === 'ERR_MODULE_NOT_FOUND' && missing !== null) {
    const [wanted, from] = [missing[1]!, missing[2]!].map(toPath)
    const wantedName = isAbsolute(wanted!) ? show(wanted!) : visibleText(wanted!)
    return new ConfigError(
      `${name} can't be loaded: ${show(from!)} imports "${wantedName}", which Node does not find. Is it a TypeScript file, or an alias of your tsconfig? ${waysOut}`,
      true,
    )
  }
  return new ConfigError(`${name} can't be loaded (${at}): ${visibleText(message)}`)
}

const waysOut =
  "Install tsx (npm install --save-dev tsx), or name your own loader in the config: imports: ['…']."

function toError(error: unknown): Error & { code?: string } {
  return error instanceof Error ? error : new Error(String(error))
}

/** Node prints where a file can't be parsed, and keeps it from whoever catches the error. */
function printedError(file: string): string {
  const program = `import(${JSON.stringify(pathToFileURL(file).href)})`
  const args = [...process.execArgv, '--input-type=module', '--eval', program]
  return spawnSync(process.execPath, args, { encoding: 'utf8' }).stderr
}

function placeOf(stack: string): { path: string; line: string; source: string } | undefined {
  const [, path, line, source] = /^(file:.+|\/.+|[A-Za-z]:\\.+):(\d+)\n(.*)\n/.exec(stack) ?? []
  return path === undefined ? undefined : { path: toPath(path), line: line!, source: source! }
}

/** The first line of the project's own code that led to the error. */
function thrownAt(stack: string): ReturnType<typeof placeOf> {
  const frames = stack.matchAll(/^\s+at (?:.*\()?(file:[^)\n]+|\/[^)\n]+|[A-Za-z]:\\[^)\n]+):(\d+):\d+\)?$/gm)
  for (const [, path, line] of frames)
    if (!/[\\/]node_modules[\\/]/.test(path!)) return { path: toPath(path!), line: line!, source: '' }
  return undefined
}

function toPath(text: string): string {
  return text.startsWith('file:') ? fileURLToPath(text) : text
}

type LoadError = { code: string | undefined; message: string; source: string }

function constructOf({ code, message, source }: LoadError): string | undefined {
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') {
    const [, what] = /^TypeScript (.+?) (?:is|are) not supported/.exec(message) ?? []
    return what === undefined ? 'TypeScript that is more than types' : `a TypeScript ${what}`
  }
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION') return 'a file that is not JavaScript'
  const isDecorator = message === 'Invalid or unexpected token' && /(?:^|[\s{;])@\w/.test(source)
  return isDecorator ? 'a decorator' : undefined
}
