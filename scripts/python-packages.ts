// Installs Python packages for the tests. pip takes half a minute of processor time for those of clients/python, mostly to
// choose among the files of the registry; uv takes two seconds.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const cache = fileURLToPath(new URL('../node_modules/.cache/', import.meta.url))
const isWindows = process.platform === 'win32'
const UV = 'uv==0.9.9'
const TIMEOUT_MS = 600_000
const quietly = ['install', '--quiet', '--disable-pip-version-check', '--no-compile']

/** The interpreter of a virtual environment. */
export function interpreterOf(environment: string): string {
  return join(environment, isWindows ? 'Scripts/python.exe' : 'bin/python')
}

/** Creates a virtual environment with these packages. Throws without a registry. */
export async function createEnvironment(
  python: string,
  folder: string,
  packages: readonly string[],
): Promise<void> {
  const uv = await findUv(python)
  if (uv !== undefined) {
    await execute(uv, ['venv', '--quiet', '--clear', '--python', python, folder])
    // A registry that only pip's settings name is unknown to uv.
    if (await succeeds(installPackages(interpreterOf(folder), packages))) return
    found = Promise.resolve(undefined)
  }
  await execute(python, ['-m', 'venv', '--clear', folder])
  await installPackages(interpreterOf(folder), packages)
}

/** Adds packages to the environment of this interpreter. The options are those that pip and uv share. */
export async function installPackages(interpreter: string, options: readonly string[]): Promise<void> {
  const uv = await findUv(interpreter)
  if (uv === undefined) await execute(interpreter, ['-m', 'pip', ...quietly, ...options])
  else await execute(uv, ['pip', 'install', '--quiet', '--python', interpreter, ...options])
}

let found: Promise<string | undefined> | undefined

/** Undefined on a machine whose Python has no pip to install it with. Its environments have one. */
function findUv(python: string): Promise<string | undefined> {
  found ??= installUv(python).catch(() => undefined)
  return found
}

/** Test files that run at the same time may all install it: each does so in a folder of its own, and one of them stays. */
export async function installUv(python: string): Promise<string> {
  const folder = join(cache, UV.replace('==', '-'))
  const program = join(folder, 'bin', isWindows ? 'uv.exe' : 'uv')
  if (existsSync(program)) return program
  mkdirSync(cache, { recursive: true })
  const place = mkdtempSync(join(cache, 'uv-'))
  try {
    await execute(python, ['-m', 'pip', ...quietly, '--target', place, UV])
    if (!existsSync(program)) renameSync(place, folder)
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
  return program
}

async function execute(program: string, args: readonly string[]): Promise<void> {
  await run(program, args, { timeout: TIMEOUT_MS })
}

async function succeeds(work: Promise<void>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}
