import type { IncomingMessage } from 'node:http'
import { readRetryAfter } from './retry-delay.ts'

/** Where batches go, and as whom. */
export type Target = { endpoint: string; apiKey: string | undefined }

/** What became of a batch. */
export type SendOutcome =
  | { kind: 'accepted'; rejectedSteps: number; message: string }
  /** Not this time: nobody answered, or the server has too much to do. */
  | { kind: 'later'; reason: string; afterMs: number | undefined; isServerThere: boolean }
  /** The batch is larger than the server takes. */
  | { kind: 'too-large'; reason: string }
  /** The server does not want us: the key is wrong, or it is not Playhead. What was recorded is kept. */
  | { kind: 'unwelcome'; reason: string }
  /** The server could not read the batch, and will not be able to next time. */
  | { kind: 'unreadable'; reason: string }

const TIMEOUT_MS = 10_000
const MAX_ANSWER_LENGTH = 65_536
/** Compressing costs more than it saves when the bytes do not leave the machine. */
const GZIP_FROM = 4096
const GZIP_FROM_ON_LOOPBACK = 1024 * 1024

export function tracesUrl({ endpoint }: Target): string {
  return `${endpoint}/v1/traces`
}

export function headersFor({ apiKey }: Target, isCompressed: boolean): Record<string, string> {
  return {
    'content-type': 'application/json',
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    ...(isCompressed && { 'content-encoding': 'gzip' }),
  }
}

/** Posts OTLP/JSON. It never throws, and its socket never keeps the process alive. */
export async function sendBatch(text: string, target: Target): Promise<SendOutcome> {
  try {
    const body = await compress(text, target)
    const answer = await post(tracesUrl(target), headersFor(target, body.isCompressed), body.bytes)
    return readAnswer(answer, target)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return { kind: 'later', reason: code ?? message, afterMs: undefined, isServerThere: false }
  }
}

async function compress(text: string, target: Target): Promise<{ bytes: Buffer; isCompressed: boolean }> {
  const bytes = Buffer.from(text)
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

type Answer = { status: number; retryAfter: string | undefined; text: string }

async function post(url: string, headers: Record<string, string>, body: Buffer): Promise<Answer> {
  const { request, agent } = client(url)
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method: 'POST',
      agent,
      headers: { ...headers, 'content-length': String(body.length) },
    })
    const timer = setTimeout(() => outgoing.destroy(new Error('no answer within 10 s')), TIMEOUT_MS)
    timer.unref()
    outgoing.on('socket', (socket) => socket.unref())
    outgoing.on('response', (response) => readBody(response).then(resolve, reject))
    outgoing.on('error', reject)
    outgoing.on('close', () => clearTimeout(timer))
    outgoing.end(body)
  })
}

function readBody(response: IncomingMessage): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      if (text.length < MAX_ANSWER_LENGTH) text += chunk
    })
    response.on('end', () =>
      resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], text }),
    )
    response.on('error', reject)
    response.on('aborted', () => reject(new Error('the connection was closed in the middle of the answer')))
  })
}

type Client = Pick<typeof import('node:http'), 'request'> & { agent: import('node:http').Agent }
const clients = new Map<boolean, Client>()

/**
 * Loaded with the first delivery: a program that only imports us does not pay for it. Not by `import()`, which code in a vm,
 * as in a test of jest, may not call.
 */
function client(url: string): Client {
  const isSecure = url.startsWith('https:')
  let found = clients.get(isSecure)
  if (found === undefined) {
    const module = process.getBuiltinModule(isSecure ? 'node:https' : 'node:http')
    found = { request: module.request, agent: new module.Agent({ keepAlive: true, maxSockets: 2 }) }
    clients.set(isSecure, found)
  }
  return found
}

function readAnswer({ status, retryAfter, text }: Answer, target: Target): SendOutcome {
  if (status >= 200 && status < 300) return { kind: 'accepted', ...readPartialSuccess(text) }
  const message = readMessage(text)
  const reason = `${status}${message === '' ? '' : ` ${message}`}`
  if (status === 413) return { kind: 'too-large', reason }
  if (status === 408 || status === 429 || status >= 500) {
    const afterMs = readRetryAfter(retryAfter, Date.now())
    return { kind: 'later', reason, afterMs, isServerThere: true }
  }
  if (status === 401 || status === 403) return { kind: 'unwelcome', reason }
  if (status === 404 || status === 405 || (status >= 300 && status < 400))
    return { kind: 'unwelcome', reason: `${status} for ${tracesUrl(target)}: another program listens there` }
  return { kind: 'unreadable', reason }
}

function readPartialSuccess(text: string): { rejectedSteps: number; message: string } {
  const { partialSuccess } = parse(text) as {
    partialSuccess?: { rejectedSpans?: unknown; errorMessage?: unknown }
  }
  const rejected = Number(partialSuccess?.rejectedSpans ?? 0)
  return {
    rejectedSteps: Number.isFinite(rejected) ? rejected : 0,
    message: typeof partialSuccess?.errorMessage === 'string' ? partialSuccess.errorMessage : '',
  }
}

function readMessage(text: string): string {
  const { message } = parse(text) as { message?: unknown }
  return typeof message === 'string' ? message.slice(0, 300) : ''
}

function parse(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** What the developer should know and do when nothing can be delivered; undefined when it will pass. */
export function explainTrouble(outcome: SendOutcome, target: Target, isSpooled: boolean): string | undefined {
  const kept = isSpooled
    ? 'Steps are kept on disk and sent when it does.'
    : 'Steps are kept in memory, and lost when the process ends.'
  if (outcome.kind === 'unwelcome') {
    return `${target.endpoint} refused what was recorded: ${outcome.reason}. Check the key (init({ apiKey }) or PLAYHEAD_API_KEY) and the address (init({ endpoint }) or PLAYHEAD_ENDPOINT).`
  }
  if (outcome.kind !== 'later') return undefined
  if (outcome.isServerThere)
    return `${target.endpoint} can't take steps at the moment (${outcome.reason}). ${kept}`
  return `No Playhead server answers at ${target.endpoint} (${outcome.reason}). ${kept} Start one with "npx playhead serve", set PLAYHEAD_ENDPOINT, or record to files with init({ dir: ".playhead" }).`
}
