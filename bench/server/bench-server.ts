import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Api } from '../harness/api.ts'
import { childOf } from '../harness/process-usage.ts'

/** The real server in its own process, as a user starts it. */
export type BenchServer = {
  url: string
  api: Api
  pid: number
  enginePid: number | undefined
  /** From the start of the process to the first response from the store. */
  firstResponseMs: number
  stop(): Promise<void>
}

const entry = fileURLToPath(new URL('../../packages/server/src/main.ts', import.meta.url))

export async function startBenchServer(dataDirectory: string): Promise<BenchServer> {
  const startedAtMs = performance.now()
  const child = spawn(process.execPath, ['--conditions=playhead-source', entry], {
    env: { ...process.env, PLAYHEAD_DATA: dataDirectory, PLAYHEAD_PORT: '0', PLAYHEAD_DEMO: 'off' },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const url = await readUrl(child)
  const api = new Api(url)
  await api.get('/readyz')
  const firstResponseMs = performance.now() - startedAtMs
  return {
    url,
    api,
    pid: child.pid!,
    enginePid: childOf(child.pid!),
    firstResponseMs,
    async stop() {
      api.close()
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

async function readUrl(child: ChildProcess): Promise<string> {
  let output = ''
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the server exited with code ${code}: ${output}`)))
    child.stdout!.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const url = /Playhead is at (\S+)/.exec(output)?.[1]
      if (url !== undefined) resolve(url)
    })
  })
}
