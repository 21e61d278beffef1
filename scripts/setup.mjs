// Installs dependencies, so that a fresh clone needs one command. Runs on the machine's own Node; everything after it
// runs on the Node that package.json pins.
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
  // Not `npm ci`: it rejects lock files that lack some platform's binaries, which incomplete mirrors produce.
  // Errors only: the machine's Node may be too old for some tools, but they run on the pinned one.
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
