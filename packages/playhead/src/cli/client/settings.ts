import type { GlobalOptions } from '../arguments/command.ts'
import { UsageError } from '../terminal/cli-error.ts'
import type { Environment } from '../terminal/terminal.ts'

/** The server to connect to, with which credentials, and the project. */
export type Settings = {
  /** Without a trailing slash. */
  endpoint: string
  apiKey: string | undefined
  password: string | undefined
  project: string | undefined
}

export const DEFAULT_ENDPOINT = 'http://localhost:4318'

/** Options take precedence over environment variables. */
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
      `"${text}" is not a server URL. Use one like http://localhost:4318 (--endpoint or PLAYHEAD_ENDPOINT).`,
    )
  if (url.username !== '' || url.password !== '')
    throw new UsageError(
      'Remove the user name and password from the server URL; use --api-key or --password instead.',
    )
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

/** Trims the key: copying one often adds a line break. */
function readKey(given: string | undefined): string | undefined {
  const key = given?.trim()
  if (key === undefined || key === '') return undefined
  if (!/^[\x21-\x7E]+$/.test(key))
    throw new UsageError(
      'The API key contains invalid characters. Copy it again (--api-key or PLAYHEAD_API_KEY).',
    )
  return key
}
