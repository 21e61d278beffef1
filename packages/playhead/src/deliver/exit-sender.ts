import { existsSync, readFileSync, unlinkSync } from 'node:fs'
import { request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { workerData } from 'node:worker_threads'
import { readExportResponse, type ResponseParts } from './export-response.ts'
import { contentTypeOf, PROTOBUF, type Payload } from './payload.ts'

/** The input of the worker thread that sends the last steps while the process waits for it. */
export type ExitSenderInput = {
  url: string
  headers: Record<string, string>
  /** Batches on disk, deleted once they are delivered. */
  paths: readonly string[]
  /** Batches that could not be written to disk. */
  unspooled: readonly Uint8Array[]
  /** Its first element is set to 1 when the thread is done. */
  done: Int32Array
}

const { url, headers, paths, unspooled, done } = workerData as ExitSenderInput

void run().finally(() => {
  Atomics.store(done, 0, 1)
  Atomics.notify(done, 0)
})

async function run(): Promise<void> {
  for (const bytes of unspooled) if (!(await isAccepted({ bytes, contentType: PROTOBUF }))) return
  for (const path of paths) {
    if (!existsSync(path)) continue
    if (!(await isAccepted({ bytes: readFileSync(path), contentType: contentTypeOf(path) }))) return
    unlinkSync(path)
  }
}

async function isAccepted(payload: Payload): Promise<boolean> {
  const response = await post(payload).catch(() => undefined)
  if (response === undefined || response.status < 200 || response.status >= 300) return false
  return readExportResponse(response) !== undefined
}

function post({ bytes, contentType: sent }: Payload): Promise<ResponseParts & { status: number }> {
  return new Promise((resolve, reject) => {
    const request = url.startsWith('https:') ? requestSecure : requestPlain
    const options = { method: 'POST', headers: { 'content-type': sent, ...headers } }
    const outgoing = request(url, options, (response) => {
      const status = response.statusCode ?? 0
      const contentType = response.headers['content-type']
      buffer(response).then((body) => resolve({ status, contentType, body }), reject)
    })
    outgoing.on('error', reject)
    outgoing.end(bytes)
  })
}
