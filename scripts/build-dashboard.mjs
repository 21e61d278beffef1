// Builds the dashboard when its sources, or the model that it inlines, are newer than the last build.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'packages/dashboard')
const built = join(folder, 'dist/index.html')

export function buildDashboard() {
  if (
    existsSync(built) &&
    newest(join(folder, 'src'), join(root, 'packages/model/src'), join(root, 'package-lock.json')) <
      statSync(built).mtimeMs
  )
    return
  console.log('Building the dashboard…')
  const { status } = spawnSync(
    join(root, 'node_modules/node/bin/node'),
    [join(root, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'error'],
    {
      cwd: folder,
      stdio: 'inherit',
    },
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
