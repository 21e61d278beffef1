import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { RedactRule } from '@playhead/model'

/** What `init` takes. Everything is optional; options count before the environment. */
export type InitOptions = {
  /** The key of a project. Environment: `PLAYHEAD_API_KEY`, `AGENTOPS_API_KEY`. A local server needs none. */
  apiKey?: string | undefined
  /** The server. `PLAYHEAD_ENDPOINT`, else `http://localhost:4318`. `false` (or `off`) sends nothing anywhere. */
  endpoint?: string | false | undefined
  /**
   * Writes every session to a file in this folder that `playhead show` opens. `PLAYHEAD_DIR`. Unless an endpoint is given
   * as well, nothing is sent.
   */
  dir?: string | undefined
  /** What the program is called: `service.name`. `OTEL_SERVICE_NAME`. */
  serviceName?: string | undefined
  /** "production", "ci", …: `deployment.environment.name`. */
  environment?: string | undefined
  /** Tags for every session of this process. */
  tags?: readonly string[] | undefined
  /** Attributes that describe this process, as in `OTEL_RESOURCE_ATTRIBUTES`. */
  resource?: Readonly<Record<string, string | number | boolean>> | undefined
  /** What is recorded. `false` records model calls no more than anything else that is not asked for. */
  capture?:
    | boolean
    | {
        /** Model calls seen at the HTTP layer; on by default. */
        llm?: boolean | undefined
        /** `false` keeps the structure (names, kinds, times, tokens, costs) and no text. */
        content?: boolean | undefined
      }
    | undefined
  /** What must not leave the process, besides keys, tokens, private keys and card numbers, which never do. */
  redact?: readonly RedactRule[] | undefined
  /** Longer values are cut, and say so. 1,048,576 by default. */
  maxValueBytes?: number | undefined
  /**
   * Which HTTP requests carry the session to other processes: those inside the own network by default; `true` all, `false`
   * none, a list those to these hosts and their subdomains.
   */
  propagate?: boolean | readonly string[] | ((url: URL) => boolean) | undefined
  /** How many ended sessions `getSession(id)` still finds in this process; those that are held on to are kept anyway. 20 by default. */
  keepSessions?: number | undefined
  /** Says nothing on stderr, not even why something can't work. */
  silent?: boolean | undefined
}

/** Options and environment, read and checked. */
export type Settings = {
  apiKey: string | undefined
  /** Without a slash at its end; undefined: nothing is sent. */
  endpoint: string | undefined
  dir: string | undefined
  /** Where what can't be sent waits; undefined: nowhere. */
  spool: string | undefined
  serviceName: string | undefined
  environment: string | undefined
  tags: readonly string[]
  resource: Readonly<Record<string, string | number | boolean>>
  isLlmCaptured: boolean
  isContentKept: boolean
  redact: readonly RedactRule[]
  maxValueBytes: number
  propagate: NonNullable<InitOptions['propagate']> | undefined
  keepSessions: number
  isSilent: boolean
  /** What was wrong with what was given, for the developer. */
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
  given: string | false | undefined,
  hasFolder: boolean,
  problems: string[],
): string | undefined {
  if (given === false || given?.toLowerCase() === 'off') return undefined
  if (given === undefined) return hasFolder ? undefined : DEFAULT_ENDPOINT
  const text = given.trim()
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    problems.push(
      `"${text}" is not the address of a server: nothing is sent. It looks like ${DEFAULT_ENDPOINT} (init({ endpoint }) or PLAYHEAD_ENDPOINT).`,
    )
    return undefined
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/v1\/traces$/, '')
}

/** Keys are copied around: a line break at the end is not part of them. */
function readKey(given: string | undefined, problems: string[]): string | undefined {
  const key = given?.trim()
  if (key === undefined || key === '') return undefined
  if (/^[\x21-\x7E]+$/.test(key)) return key
  problems.push(
    'The key holds characters that no key has: it is left out. Copy it again (init({ apiKey }) or PLAYHEAD_API_KEY).',
  )
  return undefined
}

function readSpool(given: string | undefined): string | undefined {
  if (given?.toLowerCase() === 'off') return undefined
  return given === undefined || given === '' ? join(homedir(), '.playhead', 'spool') : resolve(given)
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text
}

function atLeast(smallest: number, given: number): number {
  return Number.isFinite(given) && given >= smallest ? given : smallest
}
