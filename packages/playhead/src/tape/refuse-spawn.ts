import type { ChildProcess, SpawnSyncReturns } from 'node:child_process'
import { basename } from 'node:path'
import { visibleText } from '@playhead/model'
import { refuse } from './refusal.ts'
import { replaceMethod, type AnyMethod } from './replace-method.ts'

/**
 * Refuses the programs that a strict run starts, because nothing stops those from using the network. A refused program
 * looks like one that is not installed. Returns a function that undoes it.
 */
export function refuseSpawn(isRefused: () => boolean, allowed: () => readonly string[] | 'all'): () => void {
  const module = process.getBuiltinModule('node:child_process')
  const { syncBuiltinESMExports } = process.getBuiltinModule('node:module')
  const check = (command: Command): Error | undefined =>
    isRefused() && !isAllowed(command, allowed()) ? refuse(sentenceFor(command)) : undefined
  const undo = [
    // spawn, exec, execFile and fork all end here, also where they were imported earlier.
    replaceMethod(module.ChildProcess.prototype, 'spawn', (original) => spawn(original, check)),
    replaceMethod(module, 'spawnSync', (original) => spawnSync(original, check)),
    replaceMethod(module, 'execFileSync', (original) => execSync(original, check)),
    replaceMethod(module, 'execSync', (original) => execSync(original, check)),
  ]
  syncBuiltinESMExports()
  return () => {
    for (const restore of undo.toReversed()) restore()
    syncBuiltinESMExports()
  }
}

type Command = { file: string; args: readonly string[]; isShell?: boolean }
type Check = (command: Command) => Error | undefined
type SpawnOptions = { file: string; args?: string[]; envPairs?: string[] }

function spawn(original: AnyMethod, check: Check): AnyMethod {
  return function spawnUnlessRefused(this: ChildProcess, options: SpawnOptions) {
    const error = check({ file: options.file, args: options.args?.slice(1) ?? [] })
    if (error === undefined)
      return original.call(this, { ...options, envPairs: withOwnPairs(options.envPairs) }) as unknown
    const emit = this.emit.bind(this)
    this.emit = (name: string, ...args: unknown[]) =>
      name === 'error' ? emit('error', error) : emit(name as 'spawn', ...(args as []))
    const result: unknown = original.call(this, { ...options, file: '/playhead/refused' })
    Object.assign(this, { spawnfile: options.file })
    return result
  }
}

function spawnSync(original: AnyMethod, check: Check): AnyMethod {
  return function spawnSyncUnlessRefused(this: unknown, ...args): SpawnSyncReturns<unknown> {
    const error = check(readCommand(args))
    if (error === undefined)
      return original.apply(this, withOwnEnvironment(args)) as SpawnSyncReturns<unknown>
    return { pid: 0, output: [], stdout: null, stderr: null, status: null, signal: null, error }
  }
}

function execSync(original: AnyMethod, check: Check): AnyMethod {
  return function execSyncUnlessRefused(this: unknown, ...args) {
    const error = check(readCommand(args, original.name === 'execSync'))
    if (error !== undefined) throw error
    return original.apply(this, withOwnEnvironment(args)) as unknown
  }
}

function readCommand([file, second, third]: unknown[], isExec = false): Command {
  const args = Array.isArray(second) ? second.map(String) : []
  const options = (Array.isArray(second) ? third : second) as { shell?: unknown } | undefined
  const isShell = isExec || Boolean(options?.shell)
  return isShell
    ? { file: [String(file), ...args].join(' '), args: [], isShell }
    : { file: String(file), args }
}

const shells = new Set(['sh', 'bash', 'zsh', 'dash', 'ash', 'cmd'])

/** The program that a command starts; the shell itself if it is asked for more than one. */
function programOf({ file, args, isShell = false }: Command): string {
  const name = nameOf(file)
  const script = isShell ? file : shells.has(name) && args.length > 1 ? args.at(-1)! : undefined
  if (script === undefined) return name
  if (/[;&|`$()<>\n]/.test(script)) return isShell ? 'sh' : name
  return nameOf(script.trim().split(/\s+/)[0]!.replaceAll('"', ''))
}

function nameOf(file: string): string {
  return basename(file.replaceAll('\\', '/')).replace(/\.(?:exe|cmd|bat)$/i, '')
}

function isAllowed(command: Command, allowed: readonly string[] | 'all'): boolean {
  if (allowed === 'all') return true
  return allowed.includes(programOf(command)) || allowed.includes(command.file)
}

function sentenceFor(command: Command): string {
  const shown = visibleText([command.file, ...command.args].join(' ')).slice(0, 200)
  return `The run tried to start "${shown}". A program that it starts can reach the network, so it is refused. Record what starts it with recordTool, or allow it in playhead.config.ts: allowSpawn: ['${visibleText(programOf(command))}'].`
}

/** What puts Node programs behind the same wall, also if the host gives them an environment of their own. */
function ownVariables(): [name: string, value: string][] {
  return ['NODE_OPTIONS', 'PLAYHEAD_RERUN'].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as [string, string]]
  })
}

function withOwnPairs(pairs: readonly string[] | undefined): string[] | undefined {
  if (pairs === undefined) return undefined
  const own = ownVariables().filter(([name]) => !pairs.some((pair) => pair.startsWith(`${name}=`)))
  return [...pairs, ...own.map(([name, value]) => `${name}=${value}`)]
}

function withOwnEnvironment(args: unknown[]): unknown[] {
  return args.map((argument) => {
    if (typeof argument !== 'object' || argument === null || Array.isArray(argument)) return argument
    const { env } = argument as { env?: Record<string, string> }
    return env === undefined
      ? argument
      : { ...argument, env: { ...Object.fromEntries(ownVariables()), ...env } }
  })
}
