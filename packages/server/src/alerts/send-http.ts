import { request as plainRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as secureRequest } from 'node:https'
import type { AddressGuard, PinnedAddress } from './address-guard.ts'
import { UnreachableTarget } from './address-guard.ts'

/** How long one attempt may take in all. */
export const ATTEMPT_MS = 10_000
/** How much of an answer is read. */
const MAX_ANSWER_BYTES = 64 * 1024
const MAX_DETAIL = 200

/**
 * What one attempt led to. `unreachable`: nothing was sent. `unanswered`: it was sent, or part of it, and nobody knows
 * whether it arrived.
 */
export type Outcome = {
  result: 'delivered' | 'refused' | 'unreachable' | 'unanswered'
  /** The HTTP status or SMTP code. */
  status?: number
  detail?: string
  retryAfterMs?: number
}

export type HttpMessage = { url: string; headers: Record<string, string>; body: string }

/** Posts a message to a pinned address. Redirects are not followed: they lead to where nobody checked. */
export async function sendHttp(
  { url, headers, body }: HttpMessage,
  guard: AddressGuard,
  attemptMs = ATTEMPT_MS,
): Promise<Outcome> {
  const target = new URL(url)
  const ends = AbortSignal.timeout(attemptMs)
  const pinned = await pinInTime(guard, target.hostname, ends)
  if ('result' in pinned) return pinned
  return post(target, pinned, { headers, body, ends })
}

/** The address of a host, or why there is none. */
export async function pinInTime(
  guard: AddressGuard,
  host: string,
  ends: AbortSignal,
): Promise<PinnedAddress | Outcome> {
  const late = Promise.withResolvers<Outcome>()
  const stop = () => late.resolve({ result: 'unreachable', detail: `${host} was not resolved in time.` })
  ends.addEventListener('abort', stop, { once: true })
  const pinned = guard.pin(host).catch((error: Error): Outcome => {
    if (!(error instanceof UnreachableTarget)) throw error
    return { result: 'unreachable', detail: error.message }
  })
  return Promise.race([pinned, late.promise]).finally(() => ends.removeEventListener('abort', stop))
}

function post(
  target: URL,
  { address, family }: PinnedAddress,
  { headers, body, ends }: { headers: Record<string, string>; body: string; ends: AbortSignal },
): Promise<Outcome> {
  const options: RequestOptions = {
    method: 'POST',
    host: target.hostname.replace(/^\[|\]$/g, ''),
    port: target.port,
    path: target.pathname + target.search,
    // Never asked with another name than the one that was checked: the answer is the checked address.
    lookup: (_, { all }, answer) =>
      all === true ? answer(null, [{ address, family }]) : answer(null, address, family),
    family,
    // No connection is kept, and no proxy of the environment is used.
    agent: false,
    signal: ends,
    maxHeaderSize: 16 * 1024,
    headers: {
      host: target.host,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'user-agent': 'Playhead',
      connection: 'close',
      ...headers,
    },
  }
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const request = (target.protocol === 'https:' ? secureRequest : plainRequest)(options)
  let [isConnected, isAnswered] = [false, false]
  request.on('socket', (socket) =>
    socket.once(target.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      isConnected = true
      request.end(body)
    }),
  )
  request.on('response', (response) => {
    isAnswered = true
    void readAnswer(response, ends).then(resolve)
  })
  request.on('error', (error: NodeJS.ErrnoException) => {
    if (isAnswered) return
    const why = ends.aborted ? 'No answer in time' : (error.code ?? error.message)
    resolve(
      isConnected
        ? { result: 'unanswered', detail: `${why}.` }
        : { result: 'unreachable', detail: `No connection to ${target.host} (${address}): ${why}.` },
    )
  })
  return promise
}

/** The status decides, whether or not the rest of the answer arrives. */
async function readAnswer(response: IncomingMessage, ends: AbortSignal): Promise<Outcome> {
  const status = response.statusCode ?? 0
  const text = await readText(response, ends)
  if (status >= 200 && status < 300) return { result: 'delivered', status }
  const isRedirect = status >= 300 && status < 400
  const detail = isRedirect ? 'It answered with a redirect, which is not followed.' : text
  const retryAfter = Number(response.headers['retry-after'])
  return {
    result: 'refused',
    status,
    ...(detail !== '' && { detail }),
    ...(retryAfter > 0 && { retryAfterMs: retryAfter * 1_000 }),
  }
}

/** The beginning of the answer. What is longer than the limit is not read. */
async function readText(response: IncomingMessage, ends: AbortSignal): Promise<string> {
  let [text, bytes] = ['', 0]
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (text.length < MAX_DETAIL) text += chunk.toString()
      if (bytes > MAX_ANSWER_BYTES || ends.aborted) break
    }
  } catch {
    // The status has arrived, and it is what counts.
  }
  response.destroy()
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_DETAIL)
}
