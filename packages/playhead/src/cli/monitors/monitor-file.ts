import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isRecord, parseDuration, type Condition, type Monitor, type Rule } from '@playhead/model'
import { CliError } from '../terminal/cli-error.ts'

const names = ['ts', 'mts', 'js', 'mjs', 'json'].map((ending) => `playhead.monitors.${ending}`)
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** A monitor as `POST /api/monitors` takes it. */
export type FileMonitor = Omit<Monitor, 'isFromFile'>

/** Finds the file in this folder or one above it. */
export function findMonitorFile(from: string, explicit: string | undefined): string {
  if (explicit !== undefined) {
    const path = resolve(from, explicit)
    if (existsSync(path)) return path
    throw new CliError(`There is no file ${explicit}.`)
  }
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const found = names.map((name) => join(folder, name)).find((path) => existsSync(path))
    if (found !== undefined) return found
    if (dirname(folder) === folder)
      throw new CliError(
        'There is no playhead.monitors.ts here or in a folder above. Write one:\n\n  import { defineMonitors } from "playhead"\n\n  export default defineMonitors([\n    { name: "Failures", measure: "failure-rate", above: 0.05, over: "1h", minimum: 20 },\n  ])\n',
      )
  }
}

/** Reads the monitors of a file. A mistake says which monitor and what to write instead. */
export async function readMonitorFile(path: string): Promise<FileMonitor[]> {
  const monitors = path.endsWith('.json')
    ? JSON.parse(await readFile(path, 'utf8'))
    : await importDefault(path)
  if (!Array.isArray(monitors)) throw new CliError(`${path} must export a list of monitors as its default.`)
  const read = monitors.map((given, index) => readMonitor(given, index))
  for (const { id } of read)
    if (read.filter((other) => other.id === id).length > 1)
      throw new CliError(`Two monitors have the id ${id}: give one of them another name or id.`)
  return read
}

async function importDefault(path: string): Promise<unknown> {
  try {
    return ((await import(pathToFileURL(path).href)) as { default?: unknown }).default
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const hint =
      code === 'ERR_UNKNOWN_FILE_EXTENSION'
        ? ' This Node.js can not read TypeScript: rename the file to playhead.monitors.mjs, or use Node.js 22.18 or later.'
        : ''
    throw new CliError(`${path} can not be loaded: ${message}.${hint}`)
  }
}

export function readMonitor(given: unknown, index: number): FileMonitor {
  const place = isRecord(given) && typeof given.name === 'string' ? `"${given.name}"` : `number ${index + 1}`
  const fail = (problem: string): never => {
    throw new CliError(`The monitor ${place}: ${problem}`)
  }
  if (!isRecord(given) || typeof given.name !== 'string' || given.name.trim() === '')
    return fail('it needs a name.')
  const id = typeof given.id === 'string' ? given.id : idOf(given.name)
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(id))
    fail(`its id "${id}" must be lower-case letters, digits and dashes; set one with id.`)
  const filter = isRecord(given.filter) ? (given.filter as Monitor['filter']) : {}
  const read = new Reader(given, fail)
  return {
    id,
    name: given.name.trim(),
    filter,
    condition: read.condition(),
    forMs: given.for === undefined ? 0 : read.duration('for'),
    isPaused: given.isPaused === true,
    ...(given.destinations !== undefined && { destinations: read.ids('destinations') }),
  }
}

/** "Refund without identity!" becomes refund-without-identity. */
function idOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60)
}

class Reader {
  readonly #given: Record<string, unknown>
  readonly #fail: (problem: string) => never

  constructor(given: Record<string, unknown>, fail: (problem: string) => never) {
    this.#given = given
    this.#fail = fail
  }

  condition(): Condition {
    const { rule, measure, silence, issue } = this.#given
    if (rule !== undefined) return this.#rule(rule)
    if (measure !== undefined) return this.#rate(measure)
    if (silence !== undefined) return { kind: 'silence', windowMs: this.duration('silence') }
    if (issue !== undefined) return { kind: 'issue', windowMs: this.duration('issue') }
    return this.#fail('it needs one of rule, measure, silence and issue.')
  }

  duration(field: string, from = this.#given): number {
    const text = from[field]
    const ms = typeof text === 'number' ? text : typeof text === 'string' ? parseDuration(text) : undefined
    return ms ?? this.#fail(`${field} must be a duration like "30m", "1h" or "7d".`)
  }

  ids(field: string): string[] {
    const ids = this.#given[field]
    return Array.isArray(ids) && ids.every((id): id is string => typeof id === 'string')
      ? ids
      : this.#fail(`${field} must be a list of ids, as in ["on-call"].`)
  }

  #rule(given: unknown): Condition {
    const { within, sessions = 1 } = this.#given
    return {
      kind: 'rule',
      rule: isRecord(given) ? this.#readRule(given) : this.#fail('rule must be an object.'),
      windowMs: within === undefined ? HOUR_MS : this.duration('within'),
      sessions: this.#number('sessions', sessions),
    }
  }

  #readRule(rule: Record<string, unknown>): Rule {
    const { never, before, always, atMost, action, only, cost, noErrors, noFinding, score, atLeast } = rule
    if (typeof never === 'string')
      return { kind: 'never', action: never, ...(typeof before === 'string' && { before }) }
    if (typeof always === 'string') return { kind: 'always', action: always }
    if (atMost !== undefined)
      return {
        kind: 'at-most',
        times: this.#number('atMost', atMost),
        ...(typeof action === 'string' && { action }),
      }
    if (Array.isArray(only)) return { kind: 'only', actions: only.map(String) }
    if (cost !== undefined) return { kind: 'cost', atMost: this.#number('cost', cost) }
    if (rule.duration !== undefined) return { kind: 'duration', atMostMs: this.duration('duration', rule) }
    if (noErrors === true) return { kind: 'no-errors' }
    if (noFinding !== undefined)
      return {
        kind: 'no-finding',
        findings: [noFinding].flat() as Extract<Rule, { kind: 'no-finding' }>['findings'],
      }
    if (typeof score === 'string')
      return { kind: 'score', name: score, atLeast: this.#number('atLeast', atLeast) }
    return this.#fail(
      'rule needs one of never, always, atMost, only, cost, duration, noErrors, noFinding and score.',
    )
  }

  #rate(measure: unknown): Condition {
    const { above, below, minimum = 1, score, isChange } = this.#given
    const given = above ?? below
    const isDuration = measure === 'p95' && isChange !== true && typeof given === 'string'
    const limit = isDuration ? this.duration(above === undefined ? 'below' : 'above') : readShare(given)
    return {
      kind: 'rate',
      measure: measure as Extract<Condition, { kind: 'rate' }>['measure'],
      ...(typeof score === 'string' && { score }),
      is: above === undefined ? 'below' : 'above',
      limit: this.#number(above === undefined ? 'below' : 'above', limit),
      ...(isChange === true && { isChange }),
      windowMs: this.#given.over === undefined ? DAY_MS : this.duration('over'),
      minimum: this.#number('minimum', minimum),
    }
  }

  #number(field: string, value: unknown): number {
    return typeof value === 'number' && Number.isFinite(value)
      ? value
      : this.#fail(`${field} must be a number.`)
  }
}

/** "5%" is 0.05. */
function readShare(value: unknown): unknown {
  const [, percent] = typeof value === 'string' ? (/^(-?\d+(?:\.\d+)?)%$/.exec(value) ?? []) : []
  return percent === undefined ? value : Number(percent) / 100
}
