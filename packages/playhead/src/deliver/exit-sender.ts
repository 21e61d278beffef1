import { existsSync, readFileSync, unlinkSync } from 'node:fs'
import { request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { workerData } from 'node:worker_threads'
import { readExportResponse, type ResponseParts } from './export-response.ts'

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
    if (!existsSync(path)) continue
    if (!(await isAccepted(readFileSync(path, 'utf8')))) return
    unlinkSync(path)
  }
}

async function isAccepted(text: string): Promise<boolean> {
  const response = await post(text).catch(() => undefined)
  if (response === undefined || response.status < 200 || response.status >= 300) return false
  return readExportResponse(response) !== undefined
}

function post(text: string): Promise<ResponseParts & { status: number }> {
  return new Promise((resolve, reject) => {
    const request = url.startsWith('https:') ? requestSecure : requestPlain
    const outgoing = request(url, { method: 'POST', headers }, (response) => {
      const status = response.statusCode ?? 0
      const contentType = response.headers['content-type']
      buffer(response).then((body) => resolve({ status, contentType, body }), reject)
    })
    outgoing.on('error', reject)
    outgoing.end(text)
  })
}
