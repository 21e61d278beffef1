import { once } from 'node:events'
import { connect, isIP, Socket } from 'node:net'
import { plainHost, type AddressGuard, type PinnedAddress } from './address-guard.ts'
import { ATTEMPT_MS, pinInTime, type Outcome } from './send-http.ts'

const MAX_ANSWER_BYTES = 64 * 1024
const MAX_DETAIL = 200

export type MailServer = {
  host: string
  port: number
  security: 'tls' | 'starttls' | 'none'
  user?: string | undefined
  password?: string | undefined
}

export type Mail = {
  messageId: string
  from: string
  to: readonly string[]
  subject: string
  text: string
}

type MailError = Error & { code?: string; command?: string; responseCode?: number; response?: string }

/** Sends an e-mail over a connection to a pinned address. */
export async function sendMail(
  mail: Mail,
  server: MailServer,
  guard: AddressGuard,
  attemptMs = ATTEMPT_MS,
): Promise<Outcome> {
  const ends = AbortSignal.timeout(attemptMs)
  const pinned = await pinInTime(guard, server.host, ends)
  if ('result' in pinned) return pinned
  const socket = await open(pinned, server.port, ends)
  if (!(socket instanceof Socket)) return socket
  const stop = () => socket.destroy()
  ends.addEventListener('abort', stop, { once: true })
  try {
    return await deliver(mail, server, { socket, ends, attemptMs })
  } finally {
    ends.removeEventListener('abort', stop)
    socket.destroy()
  }
}

async function open(
  { address, family }: PinnedAddress,
  port: number,
  ends: AbortSignal,
): Promise<Socket | Outcome> {
  const socket = connect({ host: address, port, family })
  try {
    await once(socket, 'connect', { signal: ends })
    return socket
  } catch (error) {
    socket.destroy()
    const why = ends.aborted ? 'no answer in time' : ((error as NodeJS.ErrnoException).code ?? String(error))
    return { result: 'unreachable', detail: `No connection to ${address}:${port}: ${why}.` }
  }
}

async function deliver(
  { messageId, from, to, subject, text }: Mail,
  { host, port, security, user, password }: MailServer,
  { socket, ends, attemptMs }: { socket: Socket; ends: AbortSignal; attemptMs: number },
): Promise<Outcome> {
  const name = plainHost(host)
  // Loaded with the first e-mail: most servers send none.
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    host: name,
    port,
    connection: socket,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(isIP(name) === 0 && { tls: { servername: name } }),
    ...(user !== undefined && { auth: { user, pass: password ?? '' } }),
    connectionTimeout: attemptMs,
    greetingTimeout: attemptMs,
    socketTimeout: attemptMs,
    maxResponseSize: MAX_ANSWER_BYTES,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  try {
    const { response } = await transport.sendMail({
      messageId,
      from,
      to: [...to],
      subject,
      text,
      headers: { 'auto-submitted': 'auto-generated' },
    })
    return { result: 'delivered', status: Number.parseInt(response, 10) || 250 }
  } catch (error) {
    return toOutcome(error as MailError, ends)
  }
}

/**
 * Until the message itself was sent, nobody can have it. A connection that broke does not tell when it did, so it counts as
 * sent.
 */
function toOutcome(error: MailError, ends: AbortSignal): Outcome {
  const detail = (ends.aborted ? 'No answer in time.' : (error.response ?? error.message))
    .replaceAll(/\s+/g, ' ')
    .slice(0, MAX_DETAIL)
  if (error.responseCode !== undefined) return { result: 'refused', status: error.responseCode, detail }
  const isSent = error.code !== 'ETLS' && (error.command === 'DATA' || error.command === 'CONN')
  return { result: isSent ? 'unanswered' : 'refused', detail }
}
