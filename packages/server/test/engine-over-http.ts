import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { forkEngine } from '../src/store/engine/start-engine.ts'

export type EngineOverHttp = { url: string; stop(): Promise<void> }

/** The engine in a child process behind a port and a password: what a ClickHouse server is to its clients. */
export async function startEngineOverHttp(): Promise<EngineOverHttp> {
  const directory = await mkdtemp(join(tmpdir(), 'playhead-engine-'))
  const child = forkEngine({ path: join(directory, 'tables'), listen: 0, password: 'secret' })
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
