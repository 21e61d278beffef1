import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { forkEngine } from '../src/store/engine/engine-child.ts'

export type EngineOverHttp = { url: string; stop(): Promise<void> }

/** Starts the engine in a child process with a port and a password. To clients, it is a ClickHouse server. */
export function startEngineOverHttp(): Promise<EngineOverHttp> {
  return startOverHttp((directory) =>
    forkEngine({ path: join(directory, 'tables'), listen: 0, password: 'secret' }),
  )
}

/** Starts a cluster of two shards, named `two`. */
export function startClusterOverHttp(): Promise<EngineOverHttp> {
  return startOverHttp((directory) =>
    fork(new URL('./cluster-engine-main.ts', import.meta.url), [directory], {
      env: { ...process.env, UV_THREADPOOL_SIZE: '24' },
    }),
  )
}

async function startOverHttp(start: (directory: string) => ChildProcess): Promise<EngineOverHttp> {
  const directory = await mkdtemp(join(tmpdir(), 'playhead-engine-'))
  const child = start(directory)
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return {
    url: `http://default:secret@127.0.0.1:${port}`,
    async stop() {
      child.send('stop')
      await once(child, 'exit')
      await rm(directory, { recursive: true, force: true })
    },
  }
}
