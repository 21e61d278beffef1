import { spawn, type ChildProcess } from 'node:child_process'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { runCli } from '../run-cli.ts'

export type Outcome = { stdout: string; stderr: string; exitCode: number | null }

export type RunOptions = {
  endpoint?: string
  environment?: Record<string, string>
  stdin?: string
  /** Arguments for node itself. */
  nodeArguments?: string[]
  folder?: string
}

const main = fileURLToPath(new URL('../main.ts', import.meta.url))

/** Starts the real CLI in a child process, without the environment of the tests. */
export function startPlayhead(args: readonly string[], options: RunOptions = {}): ChildProcess {
  const { endpoint, environment, nodeArguments = [], folder } = options
  return spawn(process.execPath, ['--conditions=playhead-source', ...nodeArguments, main, ...args], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...(endpoint !== undefined && { PLAYHEAD_ENDPOINT: endpoint }),
      ...environment,
    },
    ...(folder !== undefined && { cwd: folder }),
    stdio: 'pipe',
  })
}

/** Runs the CLI with its output piped. */
export async function playhead(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  return finish(startPlayhead(args, options), options.stdin)
}

async function finish(child: ChildProcess, stdin = ''): Promise<Outcome> {
  child.stdin!.end(stdin)
  const exitCode = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [stdout, stderr] = await Promise.all([text(child.stdout!), text(child.stderr!)])
  return { stdout, stderr, exitCode: await exitCode }
}

/**
 * Runs the CLI in a terminal of this width, without colors by default. Its clock stands still unless the test moves it:
 * a progress bar appears after a while, however busy the machine is.
 */
export async function playheadOnTerminal(
  args: readonly string[],
  options: { endpoint?: string; columns?: number; environment?: Record<string, string> } = {},
): Promise<Outcome> {
  const { endpoint = '', columns = 100, environment } = options
  const terminal = () => Object.assign(new PassThrough(), { isTTY: true, columns })
  const [stdin, stdout, stderr] = [terminal(), terminal(), terminal()]
  const outputs = Promise.all([text(stdout), text(stderr)])
  const isClockOfTest = vi.isFakeTimers()
  if (!isClockOfTest) vi.useFakeTimers({ toFake: ['performance'] })
  const exitCode = await runCli(args, {
    stdin,
    stdout,
    stderr,
    environment: { PLAYHEAD_ENDPOINT: endpoint, NO_COLOR: '1', ...environment },
  })
  if (!isClockOfTest) vi.useRealTimers()
  stdout.end()
  stderr.end()
  const [out, error] = await outputs
  return { stdout: out, stderr: error, exitCode }
}
