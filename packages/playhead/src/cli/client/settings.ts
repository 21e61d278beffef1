import { UsageError } from '../terminal/cli-error.ts'
import type { GlobalOptions } from '../arguments/command.ts'
import type { Environment } from '../terminal/terminal.ts'

/** Which server to talk to, as whom, and about which project. */
export type Settings = {
  /** Without a slash at its end. */
  endpoint: string
  apiKey: string | undefined
  password: string | undefined
  project: string | undefined
}

const DEFAULT_ENDPOINT = 'http://localhost:4318'

/** Options first, then the environment. */
export function readSettings(options: GlobalOptions, environment: Environment): Settings {
  const apiKey = options['api-key'] ?? (environment.PLAYHEAD_API_KEY || environment.AGENTOPS_API_KEY)
  return {
    endpoint: readEndpoint(options.endpoint ?? environment.PLAYHEAD_ENDPOINT),
    apiKey: readKey(apiKey),
    password: options.password ?? (environment.PLAYHEAD_PASSWORD || undefined),
    project: options.project,
  }
}

function readEndpoint(given: string | undefined): string {
  const text = given?.trim() || DEFAULT_ENDPOINT
  const address = text.includes('://') ? text : `http://${text}`
  const url = URL.parse(address)
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw new UsageError(
      `"${text}" is not the address of a server. It looks like http://localhost:4318 (--endpoint or PLAYHEAD_ENDPOINT).`,
    )
  if (url.username !== '' || url.password !== '')
    throw new UsageError('Leave the user and the password out of the address: use --api-key or --password.')
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

/** Keys are copied around: a line break at the end is not part of them. */
function readKey(given: string | undefined): string | undefined {
  const key = given?.trim()
  if (key === undefined || key === '') return undefined
  if (!/^[\x21-\x7E]+$/.test(key))
    throw new UsageError(
      'The key holds characters that no key has. Copy it again (--api-key or PLAYHEAD_API_KEY).',
    )
  return key
}
