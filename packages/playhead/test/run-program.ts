import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

export type ProgramOptions = {
  args?: readonly string[]
  environment?: Record<string, string>
  /** Arguments of node itself. */
  nodeArguments?: readonly string[]
  folder?: string
}

export type Outcome = {
  stdout: string
  stderr: string
  exitCode: number | null
  signal: NodeJS.Signals | null
}

/** Starts a program from `programs/`, from source and without the environment of the tests. */
export function startProgram(name: string, options: ProgramOptions = {}): ChildProcess {
  const { args = [], environment = {}, nodeArguments = [], folder } = options
  const path = fileURLToPath(new URL(`./programs/${name}.ts`, import.meta.url))
  return spawn(process.execPath, ['--conditions=playhead-source', ...nodeArguments, path, ...args], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: '/nonexistent',
      PLAYHEAD_SPOOL: 'off',
      ...(process.env.NODE_OPTIONS !== undefined && { NODE_OPTIONS: process.env.NODE_OPTIONS }),
      ...environment,
    },
    ...(folder !== undefined && { cwd: folder }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Runs a program to its end. */
export async function runProgram(name: string, options: ProgramOptions = {}): Promise<Outcome> {
  return finish(startProgram(name, options))
}

export async function finish(child: ChildProcess): Promise<Outcome> {
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  const [stdout, stderr, [exitCode, signal]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    closed,
  ])
  return { stdout, stderr, exitCode, signal }
}

/** Waits until the program prints a line. */
export async function waitForLine(child: ChildProcess, line: string): Promise<void> {
  let seen = ''
  for await (const chunk of child.stdout!.iterator({ destroyOnReturn: false })) {
    seen += String(chunk)
    if (seen.includes(line)) return
  }
  throw new Error(`The program ended without printing "${line}": ${seen}`)
}
