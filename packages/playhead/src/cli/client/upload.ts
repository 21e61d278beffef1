import { createReadStream } from 'node:fs'
import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { text as readText } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { connectionError, type Api } from './api.ts'

export type Upload = {
  file: { path: string; size: number }
  contentType: string
  signal: AbortSignal
  /** Called with the number of bytes sent so far. */
  onBytes: (sent: number) => void
}

/** Posts a file. Uses `node:http` because `fetch` times out when a response takes more than five minutes to start. */
export async function uploadFile<Body>(api: Api, path: string, upload: Upload): Promise<Body> {
  let [status, body] = [0, '']
  try {
    const response = await send(api, path, upload)
    status = response.statusCode ?? 0
    body = await readText(response)
  } catch (error) {
    throw upload.signal.aborted ? error : connectionError(error, api.settings.endpoint)
  }
  if (status !== 200) throw api.responseError(path, status, body)
  return JSON.parse(body) as Body
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
    // A server that rejects the upload may close early; if it responded, that response wins over the write error.
    pipeline(counted, request).catch(reject)
  })
}
