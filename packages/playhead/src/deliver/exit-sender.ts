import { readFileSync, unlinkSync } from 'node:fs'
import { request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { workerData } from 'node:worker_threads'

/** The input of the worker thread that sends the last steps while the process waits for it. */
export type ExitSenderInput = {
  url: string
  headers: Record<string, string>
  /** Batches on disk, deleted once they are delivered. */
  paths: readonly string[]
  /** Batches that could not be written to disk. */
  texts: readonly string[]
  /** Its first element is set to 1 when the thread is done. */
  done: Int32Array
}

const { url, headers, paths, texts, done } = workerData as ExitSenderInput

void run().finally(() => {
  Atomics.store(done, 0, 1)
  Atomics.notify(done, 0)
})

async function run(): Promise<void> {
  for (const text of texts) if (!(await isAccepted(text))) return
  for (const path of paths) {
    if (!(await isAccepted(readFileSync(path, 'utf8')))) return
    unlinkSync(path)
  }
}

async function isAccepted(text: string): Promise<boolean> {
  const status = await post(text).catch(() => 0)
  return status >= 200 && status < 300
}

function post(text: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = url.startsWith('https:') ? requestSecure : requestPlain
    const outgoing = request(url, { method: 'POST', headers }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
      response.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end(text)
  })
}
