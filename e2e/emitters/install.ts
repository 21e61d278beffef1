import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { installUv } from '../../scripts/python-packages.ts'

const run = promisify(execFile)
/** Outside the repository: the packages of one emitter rarely go with those of another. */
const cache = process.env.PLAYHEAD_EMITTERS_CACHE ?? join(homedir(), '.cache', 'playhead-emitters')
const TIMEOUT_MS = 600_000

/** Packages that others need are taken as they were on this day. */
const AS_OF = '2026-11-15'

/** A virtual environment with these packages; returns its interpreter. */
export async function installPython(name: string, packages: readonly string[]): Promise<string> {
  // It links what the environments share.
  const uv = await installUv('python3')
  const folder = await once(name, packages, async (place) => {
    await run(uv, ['venv', '--quiet', '--python', '>=3.11', place], { timeout: TIMEOUT_MS })
    const options = ['--quiet', '--python', join(place, 'bin/python'), '--exclude-newer', AS_OF]
    await run(uv, ['pip', 'install', ...options, ...packages], { timeout: TIMEOUT_MS })
  })
  return join(folder, 'bin/python')
}

/** A folder with these npm packages. */
export async function installNode(name: string, packages: readonly string[]): Promise<string> {
  return once(name, packages, async (folder) => {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{"type":"module","private":true}')
    const options = ['--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts', `--before=${AS_OF}`]
    await run('npm', ['install', ...options, ...packages], { cwd: folder, timeout: TIMEOUT_MS })
  })
}

const started = new Map<string, Promise<string>>()

function once(
  name: string,
  packages: readonly string[],
  fill: (folder: string) => Promise<void>,
): Promise<string> {
  const hash = createHash('sha256')
    .update([AS_OF, ...packages].join('\n'))
    .digest('hex')
    .slice(0, 12)
  const folder = join(cache, `${name}-${hash}`)
  const running = started.get(folder) ?? install(folder, fill)
  started.set(folder, running)
  return running
}

async function install(folder: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const stamp = join(folder, '.installed')
  if (existsSync(stamp)) return folder
  rmSync(folder, { recursive: true, force: true })
  await fill(folder)
  writeFileSync(stamp, '')
  return folder
}
