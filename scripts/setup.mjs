// Installs what is missing, so that a fresh clone needs one command. Runs on whatever Node the machine has; everything
// after it runs on the Node that package.json pins.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const stamp = `${root}node_modules/.playhead-installed`
const lockHash = createHash('sha256')
  .update(readFileSync(`${root}package-lock.json`))
  .digest('hex')

if (!isInstalled()) install()

function isInstalled() {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === lockHash
}

function install() {
  console.log('Installing dependencies (once; about a minute)…')
  // Not `npm ci`: it refuses a lock file without the binaries of every platform, and mirrors that lack some make such locks.
  // Errors only: the machine's Node may be older than what some tools ask for, but they run on the pinned one.
  const { status } = spawnSync(
    'npm',
    ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: root,
      stdio: 'inherit',
      shell: process.platform === 'win32',
    },
  )
  if (status !== 0) {
    console.error(
      'npm install failed. With a network, run it again; without one, copy node_modules from a machine that has it.',
    )
    process.exit(status ?? 1)
  }
  writeFileSync(stamp, lockHash)
}
