// Builds the dashboard if its sources, or the model it inlines, changed since the last build.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'packages/dashboard')
const results = [join(folder, 'dist/index.html'), join(folder, 'dist/one-file.html')]

export function buildDashboard() {
  const sources = newest(
    join(folder, 'src'),
    join(root, 'packages/model/src'),
    join(root, 'package-lock.json'),
  )
  if (results.every((result) => existsSync(result) && statSync(result).mtimeMs > sources)) return
  console.log('Building the dashboard…')
  const { status } = spawnSync(
    join(root, 'node_modules/node/bin/node'),
    [join(root, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'error'],
    { cwd: folder, stdio: 'inherit' },
  )
  if (status !== 0) process.exit(status ?? 1)
}

function newest(...paths) {
  return Math.max(
    ...paths.map((path) =>
      statSync(path).isDirectory()
        ? newest(...readdirSync(path).map((name) => join(path, name)))
        : statSync(path).mtimeMs,
    ),
    0,
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildDashboard()
