import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { RedactRule } from '@playhead/model'
import type { RecorderSettings } from '../record/session/recorder.ts'
import type { Propagate } from '../record/session/propagate-over-http.ts'

/** Options of `init`. All are optional; they take precedence over environment variables. */
export type InitOptions = {
  /** The API key of a project; a local server needs none. Environment: `PLAYHEAD_API_KEY`, `AGENTOPS_API_KEY`. */
  apiKey?: string | undefined
  /** The server, `http://localhost:4318` by default. `false` (or `off`) sends nothing. Environment: `PLAYHEAD_ENDPOINT`. */
  endpoint?: string | false | undefined
  /**
   * Writes every session to a file in this folder; `playhead show` opens it. Nothing is sent unless an endpoint is set as
   * well. Environment: `PLAYHEAD_DIR`.
   */
  dir?: string | undefined
  /** The name of the program: `service.name`. Environment: `OTEL_SERVICE_NAME`. */
  serviceName?: string | undefined
  /** "production", "ci", …: `deployment.environment.name`. */
  environment?: string | undefined
  /** Added to every session of this process. */
  tags?: readonly string[] | undefined
  /** Attributes of this process, as in `OTEL_RESOURCE_ATTRIBUTES`. */
  resource?: Readonly<Record<string, string | number | boolean>> | undefined
  /** What is captured automatically. `false` turns off the capture of model calls. */
  capture?:
    | boolean
    | {
        /** Model calls at the HTTP layer; on by default. */
        llm?: boolean | undefined
        /** `false` keeps names, kinds, times, tokens and costs, but no text. */
        content?: boolean | undefined
      }
    | undefined
  /** Additional redaction rules. API keys, tokens, private keys and card numbers are always redacted. */
  redact?: readonly RedactRule[] | undefined
  /** Longer values are truncated and marked. 1,048,576 by default. */
  maxValueBytes?: number | undefined
  /**
   * Which HTTP requests carry the session to other processes: those inside your own network by default; `true` all, `false`
   * none, a list those to these hosts and their subdomains.
   */
  propagate?: Propagate
  /** How many ended sessions `getSession(id)` can still find in this process. 20 by default. */
  keepSessions?: number | undefined
  /** Prints no warnings to stderr. */
  silent?: boolean | undefined
}

/** The validated options and environment variables. */
export type Settings = RecorderSettings & {
  apiKey: string | undefined
  /** Without a trailing slash; undefined if nothing is sent. */
  endpoint: string | undefined
  dir: string | undefined
  /** The folder for undelivered steps; undefined if they stay in memory. */
  spool: string | undefined
  isLlmCaptured: boolean
  propagate: Propagate
  isSilent: boolean
  /** Warnings about invalid options, for the developer. */
  problems: readonly string[]
}

const DEFAULT_ENDPOINT = 'http://localhost:4318'
const DEFAULT_MAX_VALUE_BYTES = 1024 * 1024
const DEFAULT_KEPT_SESSIONS = 20

type Environment = Readonly<Record<string, string | undefined>>

export function readSettings(options: InitOptions, environment: Environment): Settings {
  const problems: string[] = []
  const dir = options.dir ?? nonEmpty(environment.PLAYHEAD_DIR)
  const { capture } = options
  return {
    apiKey: readKey(
      options.apiKey ?? (environment.PLAYHEAD_API_KEY || environment.AGENTOPS_API_KEY),
      problems,
    ),
    endpoint: readEndpoint(
      options.endpoint ?? nonEmpty(environment.PLAYHEAD_ENDPOINT),
      dir !== undefined,
      problems,
    ),
    dir: dir === undefined ? undefined : resolve(dir),
    spool: readSpool(environment.PLAYHEAD_SPOOL),
    serviceName: options.serviceName ?? nonEmpty(environment.OTEL_SERVICE_NAME),
    environment: options.environment,
    tags: options.tags ?? [],
    resource: options.resource ?? {},
    isLlmCaptured: typeof capture === 'object' ? capture.llm !== false : capture !== false,
    isContentKept: typeof capture === 'object' ? capture.content !== false : true,
    redact: options.redact ?? [],
    maxValueBytes: atLeast(1000, options.maxValueBytes ?? DEFAULT_MAX_VALUE_BYTES),
    propagate: options.propagate,
    keepSessions: atLeast(0, options.keepSessions ?? DEFAULT_KEPT_SESSIONS),
    isSilent: options.silent === true,
    problems,
  }
}

function readEndpoint(
  option: string | false | undefined,
  hasFolder: boolean,
  problems: string[],
): string | undefined {
  if (option === false || option?.toLowerCase() === 'off') return undefined
  if (option === undefined) return hasFolder ? undefined : DEFAULT_ENDPOINT
  const text = option.trim()
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    problems.push(
      `"${text}" is not a server address, so nothing is sent. Set one like ${DEFAULT_ENDPOINT} with init({ endpoint }) or PLAYHEAD_ENDPOINT.`,
    )
    return undefined
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/v1\/traces$/, '')
}

/** Copied keys often end with a line break. */
function readKey(option: string | undefined, problems: string[]): string | undefined {
  const key = option?.trim()
  if (key === undefined || key === '') return undefined
  if (/^[\x21-\x7E]+$/.test(key)) return key
  problems.push(
    'The key contains invalid characters, so it is ignored. Copy it again (init({ apiKey }) or PLAYHEAD_API_KEY).',
  )
  return undefined
}

function readSpool(folder: string | undefined): string | undefined {
  if (folder?.toLowerCase() === 'off') return undefined
  return folder === undefined || folder === '' ? join(homedir(), '.playhead', 'spool') : resolve(folder)
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text
}

function atLeast(minimum: number, value: number): number {
  return Number.isFinite(value) && value >= minimum ? value : minimum
}
