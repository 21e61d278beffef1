import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import * as types from 'node:util/types'
import type { RedactRule } from '@playhead/model'
import { readAllFields, readField, readFields, toNames } from '../record/value/host-value.ts'
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
  /** The project of a re-run; otherwise the key decides. */
  project?: string | undefined
  dir: string | undefined
  /** The folder for undelivered steps; undefined if they stay in memory. */
  spool: string | undefined
  /** How long the exit of the process may be delayed, to deliver what is left. */
  maxExitDelayMs: number
  isLlmCaptured: boolean
  propagate: Propagate
  isSilent: boolean
  /** Warnings about invalid options, for the developer. */
  problems: readonly string[]
}

const DEFAULT_ENDPOINT = 'http://localhost:4318'
const DEFAULT_MAX_VALUE_BYTES = 1024 * 1024
const DEFAULT_KEPT_SESSIONS = 20
const MAX_EXIT_DELAY_MS = 1000

type Environment = Readonly<Record<string, string | undefined>>

/** `given` comes from the host. An option of the wrong type is ignored and named; the others apply. */
export function readSettings(given: InitOptions, environment: Environment): Settings {
  const problems: string[] = []
  const options = readFields(given, optionNames)
  const readText = (name: TextOption): string | undefined => {
    const value = options[name]
    if (value === undefined || value === null || typeof value === 'string') return value ?? undefined
    problems.push(`init({ ${name} }) must be text, so it is ignored.`)
    return undefined
  }
  const readNumber = (name: 'maxValueBytes' | 'keepSessions', minimum: number, otherwise: number): number => {
    const value = options[name] ?? otherwise
    return typeof value === 'number' && value >= minimum && Number.isFinite(value) ? value : minimum
  }
  const dir = readText('dir') ?? nonEmpty(environment.PLAYHEAD_DIR)
  const endpoint = options.endpoint === false ? false : readText('endpoint')
  return {
    apiKey: readKey(
      readText('apiKey') ?? (environment.PLAYHEAD_API_KEY || environment.AGENTOPS_API_KEY),
      problems,
    ),
    endpoint: readEndpoint(endpoint ?? nonEmpty(environment.PLAYHEAD_ENDPOINT), dir !== undefined, problems),
    dir: dir === undefined ? undefined : resolve(dir),
    spool: readSpool(environment.PLAYHEAD_SPOOL),
    maxExitDelayMs: MAX_EXIT_DELAY_MS,
    serviceName: readText('serviceName') ?? nonEmpty(environment.OTEL_SERVICE_NAME),
    environment: readText('environment'),
    tags: toNames(options.tags),
    resource: readResource(options.resource),
    isLlmCaptured: options.capture !== false && readField(options.capture, 'llm') !== false,
    isContentKept: readField(options.capture, 'content') !== false,
    redact: readRules(options.redact, problems),
    maxValueBytes: readNumber('maxValueBytes', 1000, DEFAULT_MAX_VALUE_BYTES),
    propagate: readPropagate(options.propagate),
    keepSessions: readNumber('keepSessions', 0, DEFAULT_KEPT_SESSIONS),
    isSilent: options.silent === true,
    problems,
  }
}

const textOptions = ['apiKey', 'endpoint', 'dir', 'serviceName', 'environment'] as const
type TextOption = (typeof textOptions)[number]
const optionNames = [
  ...textOptions,
  'tags',
  'resource',
  'capture',
  'redact',
  'maxValueBytes',
  'propagate',
  'keepSessions',
  'silent',
] as const satisfies (keyof InitOptions)[]

function readResource(given: unknown): Settings['resource'] {
  const isAllowed = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)
  const fields = Object.entries(readAllFields(given)).filter(([, value]) => isAllowed(value))
  return Object.fromEntries(fields) as Settings['resource']
}

/** A rule that can't be applied is named: what it should hide would be sent. */
function readRules(given: unknown, problems: string[]): RedactRule[] {
  const rules = Object.values(readAllFields(given))
  const isRule = (rule: unknown): rule is RedactRule =>
    typeof rule === 'string' || typeof rule === 'function' || types.isRegExp(rule)
  const isList = given === undefined || (typeof given === 'object' && rules.every(isRule))
  if (!isList)
    problems.push(
      'init({ redact }) takes a list of key names, patterns and functions; anything else in it is ignored.',
    )
  return rules.filter(isRule)
}

function readPropagate(given: unknown): Propagate {
  if (typeof given === 'boolean' || typeof given === 'function') return given as Propagate
  return given === undefined || given === null ? undefined : toNames(given)
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
