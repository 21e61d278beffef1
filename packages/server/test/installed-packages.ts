import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createEnvironment, installPackages, interpreterOf } from '../../../scripts/python-packages.ts'

const run = promisify(execFile)
const cache = fileURLToPath(new URL('../../../node_modules/.cache/playhead-packages/', import.meta.url))
const PATIENCE_MS = 300_000

/** Installs packages as a user does, and caches them. Throws without a registry or Python. */
async function install(name: string, packages: string[], fill: (folder: string) => Promise<unknown>) {
  const hash = createHash('sha256').update(packages.join('\n')).digest('hex').slice(0, 12)
  const folder = join(cache, `${name}-${hash}`)
  const stamp = join(folder, 'installed')
  if (existsSync(stamp)) return folder
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  await fill(folder)
  writeFileSync(stamp, '')
  return folder
}

/** Creates a virtual environment with these packages; returns its interpreter. */
export async function installPython(name: string, packages: string[]): Promise<string> {
  return interpreterOf(
    await install(name, packages, (place) => createEnvironment('python3', place, packages)),
  )
}

/** Installs one package without dependencies, to shadow the same package of an environment; returns its folder. */
export async function installBeside(python: string, name: string, requirement: string): Promise<string> {
  return install(name, [requirement], (folder) =>
    installPackages(python, ['--no-deps', '--target', join(folder, 'packages'), requirement]),
  ).then((folder) => join(folder, 'packages'))
}

/** Creates a folder with these npm packages. */
export async function installNode(name: string, packages: string[]): Promise<string> {
  return install(name, packages, async (folder) => {
    writeFileSync(join(folder, 'package.json'), '{"type":"module","private":true}')
    const options = ['--no-audit', '--no-fund', '--loglevel=error']
    await run('npm', ['install', ...options, ...packages], { cwd: folder, timeout: PATIENCE_MS })
  })
}

/**
 * Returns what was installed, or undefined if that failed: then a message says that the tests were skipped. A build that
 * must run them sets CI=true and PLAYHEAD_REQUIRE_REGISTRY=1.
 */
export async function unlessUnreachable<Packages>(
  packages: () => Promise<Packages>,
): Promise<Packages | undefined> {
  try {
    return await packages()
  } catch (error) {
    if (process.env.CI === 'true' && process.env.PLAYHEAD_REQUIRE_REGISTRY === '1') throw error
    console.warn(
      `NOT RUN: the real SDKs could not be installed (python3 and the package registries are needed): ${String(error).slice(0, 600)}`,
    )
    return undefined
  }
}
