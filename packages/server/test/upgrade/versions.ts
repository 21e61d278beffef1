import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const START_TIMEOUT_MS = 300_000

export type RunningVersion = { url: string; end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> }

/** Checks out a commit beside this one, with the same dependencies: those of the store have not changed. */
export async function checkOutVersion(commit: string, repository: string, target: string): Promise<string> {
  await mkdir(target, { recursive: true })
  const archive = execFileSync('git', ['archive', commit], { cwd: repository, maxBuffer: 2 ** 29 })
  execFileSync('tar', ['-x', '-C', target], { input: archive })
  // Links, not copies: the packages of the workspace are relative links, and must lead to the earlier version.
  execFileSync('cp', ['-al', join(repository, 'node_modules'), join(target, 'node_modules')])
  return target
}

/** Starts the server of a version on a free port. */
export async function startVersion(root: string, data: string): Promise<RunningVersion> {
  const port = await freePort()
  const entry = join(root, 'packages/server/src/main.ts')
  if (!existsSync(entry)) throw new Error(`This version has no server at ${entry}.`)
  const child = spawn(process.execPath, ['--conditions=playhead-source', entry], {
    cwd: root,
    env: {
      ...process.env,
      PLAYHEAD_DEMO: 'off',
      PLAYHEAD_PORT: String(port),
      PLAYHEAD_GRPC_PORT: 'off',
      PLAYHEAD_DATA: data,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const url = `http://127.0.0.1:${port}`
  const exited = once(child, 'exit')
  for (const deadline = Date.now() + START_TIMEOUT_MS; !(await isReady(url)); await pause(50)) {
    if (child.exitCode !== null) throw new Error(`The server of ${root} exited with ${child.exitCode}.`)
    if (Date.now() > deadline) throw new Error(`The server of ${root} did not become ready.`)
  }
  return {
    url,
    async end(signal) {
      child.kill(signal)
      await exited
    },
  }
}

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
