import { createReadStream } from 'node:fs'
import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { text as readText } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import type { Api } from './api.ts'
import { connectionError } from './api.ts'

export type Upload = {
  file: { path: string; size: number }
  contentType: string
  signal: AbortSignal
  /** Called with how many bytes are on their way. */
  onBytes: (sent: number) => void
}

/** Posts a file. Not with `fetch`, which gives up when the answer takes more than five minutes to begin. */
export async function uploadFile<Answer>(api: Api, path: string, upload: Upload): Promise<Answer> {
  let [status, body] = [0, '']
  try {
    const response = await send(api, path, upload)
    status = response.statusCode ?? 0
    body = await readText(response)
  } catch (error) {
    throw upload.signal.aborted ? error : connectionError(error, api.settings.endpoint)
  }
  if (status !== 200) throw api.refusal(path, status, body)
  return JSON.parse(body) as Answer
}

function send(
  api: Api,
  path: string,
  { file, contentType, signal, onBytes }: Upload,
): Promise<IncomingMessage> {
  const url = api.url(path)
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
    method: 'POST',
    headers: { ...api.headers(), 'content-type': contentType, 'content-length': file.size },
    signal,
  })
  const counted = async function* () {
    let sent = 0
    for await (const chunk of createReadStream(file.path, { end: file.size - 1 })) {
      yield chunk as Buffer
      sent += (chunk as Buffer).length
      onBytes(sent)
    }
  }
  return new Promise((resolve, reject) => {
    request.once('response', resolve)
    request.on('error', reject)
    // A server that refuses may close while the file is still being sent: its answer counts, when there is one.
    pipeline(counted, request).catch(reject)
  })
}
