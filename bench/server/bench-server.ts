import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Api } from '../harness/api.ts'
import { childOf } from '../harness/process-usage.ts'

/** The real server in its own process, as a user starts it. */
export type BenchServer = {
  url: string
  /** Undefined unless PLAYHEAD_GRPC_PORT is set. */
  grpcAddress: string | undefined
  api: Api
  pid: number
  enginePid: number | undefined
  /** From the start of the process to the first response from the store. */
  firstResponseMs: number
  stop(): Promise<void>
}

const entry = fileURLToPath(new URL('../../packages/server/src/main.ts', import.meta.url))

export async function startBenchServer(
  dataDirectory: string,
  environment: Record<string, string> = {},
): Promise<BenchServer> {
  const startedAtMs = performance.now()
  const child = spawn(process.execPath, ['--conditions=playhead-source', entry], {
    env: {
      ...process.env,
      PLAYHEAD_DATA: dataDirectory,
      PLAYHEAD_PORT: '0',
      PLAYHEAD_DEMO: 'off',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const { url, printed } = await readOutput(child)
  const api = new Api(url)
  await api.get('/readyz')
  const firstResponseMs = performance.now() - startedAtMs
  return {
    url,
    grpcAddress: /OTLP\/gRPC +(\S+)/.exec(printed())?.[1],
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

/** Resolves when the server has printed its URL; `printed` is everything so far. */
async function readOutput(child: ChildProcess): Promise<{ url: string; printed: () => string }> {
  let output = ''
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the server exited with code ${code}: ${output}`)))
    child.stdout!.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const url = /Playhead is at (\S+)/.exec(output)?.[1]
      if (url !== undefined) resolve({ url, printed: () => output })
    })
  })
}
