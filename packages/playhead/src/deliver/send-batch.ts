import type { IncomingMessage } from 'node:http'
import { readErrorMessage, readExportResponse, type ResponseParts } from './export-response.ts'
import { trueNowMs } from '../record/opentelemetry/clock.ts'
import { OWN_CONNECTION } from '../record/session/own-connection.ts'
import type { Payload } from './payload.ts'
import { readRetryAfter } from './retry-delay.ts'

export type Target = { endpoint: string; apiKey: string | undefined; project?: string | undefined }

export type SendOutcome =
  | { kind: 'accepted'; rejectedSteps: number; message: string }
  /** The server is unreachable or overloaded. */
  | { kind: 'retry'; reason: string; retryAfterMs: number | undefined; isServerThere: boolean }
  | { kind: 'too-large'; reason: string }
  /** The key is wrong, or the server is not Playhead. The batch is kept. */
  | { kind: 'refused'; reason: string }
  /** The server can't read the batch, so a retry makes no sense. */
  | { kind: 'invalid'; reason: string }

const TIMEOUT_MS = 10_000
const MAX_RESPONSE_LENGTH = 1024 * 1024
/** On the same machine, compression costs more than it saves. */
const GZIP_FROM = 4096
const GZIP_FROM_ON_LOOPBACK = 1024 * 1024

export function tracesUrl({ endpoint }: Target): string {
  return `${endpoint}/v1/traces`
}

/** All headers but the content type. */
export function headersFor({ apiKey, project }: Target, isCompressed: boolean): Record<string, string> {
  return {
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    ...(project !== undefined && { 'x-playhead-project': project }),
    ...(isCompressed && { 'content-encoding': 'gzip' }),
  }
}

/** Posts a batch. Never throws, and its socket does not keep the process alive. */
export async function sendBatch({ bytes, contentType }: Payload, target: Target): Promise<SendOutcome> {
  try {
    const body = await compress(bytes, target)
    const headers = { 'content-type': contentType, ...headersFor(target, body.isCompressed) }
    const response = await post(tracesUrl(target), headers, body.bytes)
    return readOutcome(response, target)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return { kind: 'retry', reason: code ?? message, retryAfterMs: undefined, isServerThere: false }
  }
}

async function compress(
  bytes: Uint8Array,
  target: Target,
): Promise<{ bytes: Uint8Array; isCompressed: boolean }> {
  if (bytes.length < (isLoopback(target) ? GZIP_FROM_ON_LOOPBACK : GZIP_FROM))
    return { bytes, isCompressed: false }
  const { gzip } = process.getBuiltinModule('node:zlib')
  return new Promise((resolve) => {
    gzip(bytes, (error, compressed) =>
      resolve(error === null ? { bytes: compressed, isCompressed: true } : { bytes, isCompressed: false }),
    )
  })
}

function isLoopback({ endpoint }: Target): boolean {
  return /^https?:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::|\/|$)/.test(endpoint)
}

type HttpResponse = ResponseParts & { status: number; retryAfter: string | undefined }

async function post(url: string, headers: Record<string, string>, body: Uint8Array): Promise<HttpResponse> {
  const { request, agent } = client(url)
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method: 'POST',
      agent,
      headers: { ...headers, 'content-length': String(body.length) },
    })
    const timer = setTimeout(() => outgoing.destroy(new Error('no response within 10 s')), TIMEOUT_MS)
    timer.unref()
    outgoing.on('socket', (socket) => Object.assign(socket, { [OWN_CONNECTION]: true }).unref())
    outgoing.on('response', (response) => readBody(response).then(resolve, reject))
    outgoing.on('error', reject)
    outgoing.on('close', () => clearTimeout(timer))
    outgoing.end(body)
  })
}

function readBody(response: IncomingMessage): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    response.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= MAX_RESPONSE_LENGTH) chunks.push(chunk)
    })
    response.on('end', () =>
      resolve({
        status: response.statusCode ?? 0,
        retryAfter: response.headers['retry-after'],
        contentType: response.headers['content-type'],
        body: Buffer.concat(chunks),
      }),
    )
    response.on('error', reject)
    response.on('aborted', () => reject(new Error('the connection was closed during the response')))
  })
}

type Client = Pick<typeof import('node:http'), 'request'> & { agent: import('node:http').Agent }
const clients = new Map<boolean, Client>()

/**
 * Loads the HTTP client with the first request, so that a program that only imports the SDK does not pay for it. Not by
 * `import()`, which does not work in a vm such as jest's.
 */
function client(url: string): Client {
  const isSecure = url.startsWith('https:')
  let found = clients.get(isSecure)
  if (found === undefined) {
    const module = process.getBuiltinModule(isSecure ? 'node:https' : 'node:http')
    const options = { keepAlive: true, maxSockets: 2, [OWN_CONNECTION]: true }
    found = { request: module.request, agent: new module.Agent(options) }
    clients.set(isSecure, found)
  }
  return found
}

function readOutcome(response: HttpResponse, target: Target): SendOutcome {
  const { status, retryAfter, contentType } = response
  if (status >= 200 && status < 300) {
    const stored = readExportResponse(response)
    if (stored !== undefined) return { kind: 'accepted', ...stored }
    const type = contentType ?? 'no content type'
    const reason = `${status} with ${type} instead of OTLP's response, as from a proxy or a login page`
    return { kind: 'refused', reason }
  }
  const message = readErrorMessage(response)
  const reason = `${status}${message === '' ? '' : ` ${message}`}`
  if (status === 413) return { kind: 'too-large', reason }
  if (status === 408 || status === 429 || status >= 500) {
    const retryAfterMs = readRetryAfter(retryAfter, trueNowMs())
    return { kind: 'retry', reason, retryAfterMs, isServerThere: true }
  }
  if (status === 401 || status === 403) return { kind: 'refused', reason }
  if (status === 404 || status === 405 || (status >= 300 && status < 400))
    return { kind: 'refused', reason: `${status} for ${tracesUrl(target)}: another program is running there` }
  return { kind: 'invalid', reason }
}

/** A warning for the developer about a failed delivery. */
export function explainFailure(outcome: SendOutcome, target: Target, isSpooled: boolean): string | undefined {
  const kept = isSpooled
    ? 'Steps are kept on disk and sent later.'
    : 'Steps are kept in memory and lost when the process exits.'
  if (outcome.kind === 'refused') {
    return `${target.endpoint} rejected the recorded steps: ${outcome.reason}. Check the key (init({ apiKey }) or PLAYHEAD_API_KEY) and the address (init({ endpoint }) or PLAYHEAD_ENDPOINT).`
  }
  if (outcome.kind !== 'retry') return undefined
  if (outcome.isServerThere)
    return `${target.endpoint} can't accept steps right now (${outcome.reason}). ${kept}`
  return `No Playhead server responds at ${target.endpoint} (${outcome.reason}). ${kept} Start one with "npx playhead serve", set PLAYHEAD_ENDPOINT, or record to files with init({ dir: ".playhead" }).`
}
