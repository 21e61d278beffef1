// `npm start`: installs dependencies, builds the dashboard if it is stale, then runs the server on the pinned Node.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import './setup.mjs'
import { buildDashboard } from './build-dashboard.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const node = `${root}node_modules/node/bin/node`
buildDashboard()
const server = spawn(
  node,
  ['--conditions=playhead-source', `${root}packages/server/src/main.ts`, ...process.argv.slice(2)],
  {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  },
)
server.on('exit', (code, signal) => process.exit(signal === null ? code : 1))

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop(signal))

// npm's shell does not forward signals. If it is gone, npm was stopped.
const parent = process.ppid
setInterval(() => {
  if (process.ppid !== parent) stop('SIGTERM')
}, 500).unref()

let isStopping = false
function stop(signal) {
  // The terminal already sent Ctrl-C to the server; forwarding it would count as a second one.
  if (isStopping || (signal === 'SIGINT' && process.stdin.isTTY)) return
  isStopping = true
  server.kill(signal)
}
