import { CliError } from '../terminal/cli-error.ts'

const nobodyThere = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
])
nobodyThere.add('UND_ERR_CONNECT_TIMEOUT')

const DEFAULT_PORT = '4318'

/** Why the server could not be reached, or was lost, and what to do. */
export function connectionError(error: unknown, endpoint: string): CliError {
  const reason = deepestCause(error)
  const code = 'code' in reason ? String(reason.code) : ''
  if (!nobodyThere.has(code))
    return new CliError(`The connection to ${endpoint} failed: ${reason.message || code}`, { cause: error })
  const { hostname, port } = new URL(endpoint)
  const isLocal = /^(localhost|127\..*|\[::1\])$/.test(hostname)
  const wayOut = isLocal
    ? `Start it with: npx playhead serve${port === DEFAULT_PORT ? '' : ` --port ${port || '80'}`}`
    : `Check the address (--endpoint or PLAYHEAD_ENDPOINT) and the network (${code}).`
  return new CliError(`Nothing answers at ${endpoint}. ${wayOut}`, { cause: error })
}

/** `fetch` wraps what happened: "fetch failed" says nothing. */
function deepestCause(error: unknown): Error {
  let reason = error
  while (reason instanceof Error && reason.cause instanceof Error) reason = reason.cause
  return reason instanceof Error ? reason : new Error(String(reason))
}
