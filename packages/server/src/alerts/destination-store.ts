import { randomBytes } from 'node:crypto'
import {
  newDestinationSchema,
  secretFields,
  type DestinationDefinition,
  type DestinationResponse,
} from '../api/schemas/alerts.ts'
import { KnownError } from '../errors/known-error.ts'
import type { AddressGuard } from './address-guard.ts'
import type { Store } from '../store/connect.ts'
import { parseObject } from '../store/stored-fields.ts'
import type { VersionClock } from '../store/version-clock.ts'

/** A destination with its secrets. `problem`: why the server turned it off. */
export type Destination = {
  project: string
  id: string
  definition: DestinationDefinition
  problem?: string
}

type Stored = { project: string; id: string; definition: string; secrets: string }

/** Where alerts go. Only these are ever connected to. Kept in memory too, so that the worker asks nobody. */
export class DestinationStore {
  readonly #store: Store
  readonly #versions: VersionClock
  #known = new Map<string, Destination>()

  private constructor(store: Store, versions: VersionClock) {
    this.#store = store
    this.#versions = versions
  }

  static async open(store: Store, versions: VersionClock): Promise<DestinationStore> {
    const destinations = new DestinationStore(store, versions)
    await destinations.reload()
    return destinations
  }

  /** Reads what another server, or a restore, may have changed. */
  async reload(): Promise<void> {
    const result = await this.#store.client.query({
      query: 'SELECT project, id, definition, secrets FROM destinations FINAL',
      format: 'JSONEachRow',
    })
    const rows = await result.json<Stored>()
    this.#known = new Map(rows.map((row) => [keyOf(row.project, row.id), fromRow(row)]))
  }

  all(): Destination[] {
    return [...this.#known.values()]
  }

  list(project: string): Destination[] {
    return this.all()
      .filter((destination) => destination.project === project)
      .sort((left, right) => (left.definition.name < right.definition.name ? -1 : 1))
  }

  get(project: string, id: string): Destination | undefined {
    return this.#known.get(keyOf(project, id))
  }

  find(project: string, id: string): Destination {
    const destination = this.get(project, id)
    if (destination === undefined)
      throw new KnownError(
        'NOT_FOUND',
        `There is no destination ${id.slice(0, 60)}. GET /api/destinations lists them.`,
      )
    return destination
  }

  async save(destination: Destination): Promise<void> {
    const { project, id, definition, problem } = destination
    const secret = new Set<string>(secretFields[definition.kind])
    const fields = Object.entries(definition)
    const pick = (isSecret: boolean) =>
      Object.fromEntries(fields.filter(([field]) => secret.has(field) === isSecret))
    await this.#insert({
      project,
      id,
      definition: JSON.stringify({ ...pick(false), ...(problem !== undefined && { problem }) }),
      secrets: JSON.stringify(pick(true)),
      is_deleted: 0,
    })
    this.#known.set(keyOf(project, id), destination)
  }

  async remove(project: string, id: string): Promise<void> {
    this.find(project, id)
    await this.#insert({ project, id, definition: '', secrets: '', is_deleted: 1 })
    this.#known.delete(keyOf(project, id))
  }

  async #insert(row: Record<string, unknown>): Promise<void> {
    await this.#versions.observe('destinations')
    const values = [{ ...row, version: this.#versions.next() }]
    await this.#store.client.insert({ table: 'destinations', format: 'JSONEachRow', values })
  }
}

/** A destination whose secrets were not restored can't be used until somebody enters them. */
function fromRow({ project, id, definition, secrets }: Stored): Destination {
  const { problem, ...fields } = parseObject(definition)
  const whole = { ...fields, ...parseObject(secrets) } as DestinationDefinition
  const missing = newDestinationSchema.safeParse(whole)
  if (missing.success)
    return { project, id, definition: whole, ...(typeof problem === 'string' && { problem }) }
  const names = missing.error.issues.map(({ path }) => path.join('.')).join(', ')
  return {
    project,
    id,
    definition: { ...whole, isEnabled: false },
    problem: `Enter what is missing: ${names}. A backup contains no secrets.`,
  }
}

export function newSigningSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** The host that a destination's messages go to. */
export function hostOf(definition: DestinationDefinition): string {
  if (definition.kind === 'email') return definition.host
  return URL.canParse(definition.url) ? new URL(definition.url).hostname : ''
}

/** A destination without what is secret. */
export function toDestinationResponse(
  { id, definition, problem: known }: Destination,
  guard: AddressGuard,
): DestinationResponse {
  // Saved by an earlier version, or while it was allowed.
  const problem = known ?? guard.refusalOf(hostOf(definition))
  const { kind, name, isEnabled, includesText, ...fields } = definition
  const hidden = new Set<string>(secretFields[kind])
  const given = Object.entries(fields) as [string, string | number | string[]][]
  return {
    id,
    kind,
    name,
    isEnabled,
    includesText,
    target: targetOf(definition),
    settings: Object.fromEntries(given.filter(([field]) => !hidden.has(field))),
    secrets: given.flatMap(([field]) => (hidden.has(field) ? [field] : [])),
    ...(problem !== undefined && { problem }),
  }
}

/** Only the host of a webhook: its path usually is what lets one post there. */
function targetOf(definition: DestinationDefinition): string {
  if (definition.kind === 'email')
    return `${definition.to.join(', ')} over ${definition.host}:${definition.port}`
  return URL.canParse(definition.url) ? new URL(definition.url).origin : ''
}

function keyOf(project: string, id: string): string {
  return `${project}\0${id}`
}
