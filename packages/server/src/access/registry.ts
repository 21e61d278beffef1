import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import type { PriceOverride, Pricer } from '@playhead/model'
import { createPricer } from '@playhead/model/prices'
import type { Key, KeyFormat, Project, Scope } from '../api/schemas/settings.ts'
import { KnownError } from '../errors/known-error.ts'
import type { BadRows } from '../store/bad-rows.ts'
import type { Store } from '../store/connect.ts'
import { isoTime } from '../store/iso-time.ts'
import { isProjectId } from '../store/project-id.ts'
import type { VersionClock } from '../store/version-clock.ts'
import type { RevokedKeys } from './revoked-keys.ts'
import { hashSecret, KEY_PREFIX, newSecret } from './secrets.ts'
import { readKeys, readProjects, type ProjectRow } from './stored-registry.ts'

export const DEFAULT_PROJECT = 'default'

/** A key, except for its last use. */
export type RegisteredKey = Omit<Key, 'lastUsedAt'>
export type StoredKey = RegisteredKey & { hash: string }
type RegistryStore = Pick<Store, 'client' | 'badRows'>
/** The prices of a project. `overrides` is what its pricer was made of. */
export type ProjectPricer = { pricer: Pricer; revision: number; overrides: readonly PriceOverride[] }

/** Projects and keys: kept in the store, cached in memory because every request needs them. */
export class Registry {
  readonly #client: ClickHouseClient
  readonly #versions: VersionClock
  readonly #badRows: BadRows
  readonly #revoked: RevokedKeys | undefined
  #projects = new Map<string, Project>()
  #keys = new Map<string, StoredKey>()
  #writes = 0
  readonly #pricers = new Map<string, ProjectPricer>()

  private constructor(
    { client, badRows }: RegistryStore,
    versions: VersionClock,
    revoked: RevokedKeys | undefined,
  ) {
    this.#client = client
    this.#badRows = badRows
    this.#versions = versions
    this.#revoked = revoked
  }

  static async open(store: RegistryStore, versions: VersionClock, revoked?: RevokedKeys): Promise<Registry> {
    const registry = new Registry(store, versions, revoked)
    await registry.reload()
    if (!registry.#projects.has(DEFAULT_PROJECT))
      await registry.createProject({ id: DEFAULT_PROJECT, name: 'Default' })
    return registry
  }

  /** Picks up changes by other nodes. */
  async reload(): Promise<void> {
    const writes = this.#writes
    const [projects, keys] = await Promise.all([
      this.#read<ProjectRow>(
        `SELECT id, name, ${isoTime('created_at')} AS createdAt, retention_days AS retentionDays, daily_spans AS dailySpans, daily_bytes AS dailyBytes,
          price_overrides AS overrides, price_revision AS priceRevision FROM projects FINAL ORDER BY created_at`,
      ),
      this.#read<StoredKey>(
        `SELECT id, project, name, hash, hint, scopes, ${isoTime('created_at')} AS createdAt,
          ${isoTime('expires_at')} AS expiresAt, ${isoTime('revoked_at')} AS revokedAt FROM keys FINAL ORDER BY created_at`,
      ),
    ])
    // Something was written during the read, which may have missed it.
    if (writes !== this.#writes) return this.reload()
    this.#projects = readProjects(projects, this.#badRows)
    this.#keys = readKeys(keys, this.#projects, this.#badRows)
    for (const key of this.#keys.values()) this.#keepRevoked(key)
    this.#pricers.clear()
  }

  /** The row that revoked a key may be lost; the earlier row alone would let it work again. */
  #keepRevoked(key: StoredKey): void {
    const revokedAt = this.#revoked?.revokedAt(key.hash)
    if (key.revokedAt !== null || revokedAt === undefined) return
    key.revokedAt = revokedAt
    this.#badRows.note('keys', key.id, 'The row that revoked it is lost. It stays revoked.')
  }

  projects(): Project[] {
    return [...this.#projects.values()]
  }

  project(id: string): Project | undefined {
    return this.#projects.get(id)
  }

  async createProject(given: { id?: string | undefined; name: string }): Promise<Project> {
    const id = given.id ?? slug(given.name)
    if (!isProjectId(id)) {
      throw new KnownError(
        'BAD_REQUEST',
        `"${id}" is not a valid project id: use up to 63 lowercase letters, digits, - and _, starting with a letter or digit.`,
      )
    }
    if (this.#projects.has(id))
      throw new KnownError('CONFLICT', `Project "${id}" already exists. Choose another id.`)
    const project: Project = {
      id,
      name: given.name,
      createdAt: new Date().toISOString(),
      retentionDays: null,
      dailySpans: null,
      dailyBytes: null,
      priceOverrides: [],
      priceRevision: 0,
    }
    await this.#write(project)
    return project
  }

  async updateProject(
    id: string,
    change: Partial<Pick<Project, 'name' | 'retentionDays' | 'dailySpans' | 'dailyBytes' | 'priceOverrides'>>,
  ): Promise<Project> {
    const project = this.#projects.get(id)
    if (project === undefined) throw new KnownError('NOT_FOUND', `There is no project "${id}".`)
    const arePricesNew = change.priceOverrides !== undefined
    const changed = { ...project, ...change, priceRevision: project.priceRevision + (arePricesNew ? 1 : 0) }
    await this.#write(changed)
    return changed
  }

  /** Starts a new price revision, before steps are priced again. */
  async advancePriceRevision(id: string): Promise<void> {
    await this.updateProject(id, { priceOverrides: this.#projects.get(id)?.priceOverrides ?? [] })
  }

  pricerOf(projectId: string): ProjectPricer {
    let known = this.#pricers.get(projectId)
    if (known === undefined) {
      const project = this.#projects.get(projectId)
      const overrides = project?.priceOverrides ?? []
      known = { pricer: createPricer({ overrides }), revision: project?.priceRevision ?? 0, overrides }
      this.#pricers.set(projectId, known)
    }
    return known
  }

  keys(project: string): RegisteredKey[] {
    return [...this.#keys.values()].filter((key) => key.project === project).map(({ hash: _, ...key }) => key)
  }

  /** The key with this secret, whether or not it still works. */
  findKey(secret: string): RegisteredKey | undefined {
    return this.#keys.get(hashSecret(secret))
  }

  /** A key in the format of a UUID is for SDKs that accept nothing else, such as AgentOps'. */
  async createKey({
    format = 'playhead',
    expiresAt = null,
    ...given
  }: {
    project: string
    name: string
    scopes: Scope[]
    format?: KeyFormat
    expiresAt?: string | null
  }): Promise<{ key: RegisteredKey; secret: string }> {
    if (!this.#projects.has(given.project))
      throw new KnownError('NOT_FOUND', `There is no project "${given.project}".`)
    const secret = format === 'uuid' ? randomUUID() : newSecret(KEY_PREFIX)
    const key: RegisteredKey = {
      id: randomUUID(),
      ...given,
      hint: secret.slice(0, 7),
      createdAt: new Date().toISOString(),
      expiresAt,
      revokedAt: null,
    }
    await this.#writeKey({ ...key, hash: hashSecret(secret) })
    return { key, secret }
  }

  async revokeKey(project: string, id: string): Promise<RegisteredKey> {
    const stored = [...this.#keys.values()].find((key) => key.id === id && key.project === project)
    if (stored === undefined) throw new KnownError('NOT_FOUND', `Project "${project}" has no key ${id}.`)
    const revoked = { ...stored, revokedAt: stored.revokedAt ?? new Date().toISOString() }
    await this.#revoked?.add(revoked.hash, revoked.revokedAt)
    await this.#writeKey(revoked)
    const { hash: _, ...key } = revoked
    return key
  }

  async #write(project: Project): Promise<void> {
    const version = await this.#nextVersion('projects', project.id)
    await this.#client.insert({
      table: 'projects',
      format: 'JSONEachRow',
      values: [
        {
          id: project.id,
          name: project.name,
          created_at: project.createdAt,
          retention_days: project.retentionDays,
          daily_spans: project.dailySpans,
          daily_bytes: project.dailyBytes,
          price_overrides: JSON.stringify(project.priceOverrides),
          price_revision: project.priceRevision,
          version,
        },
      ],
    })
    this.#writes += 1
    this.#projects.set(project.id, project)
    this.#pricers.delete(project.id)
  }

  async #writeKey(key: StoredKey): Promise<void> {
    const { id, project, name, hash, hint, scopes: allowed } = key
    const version = await this.#nextVersion('keys', id)
    await this.#client.insert({
      table: 'keys',
      format: 'JSONEachRow',
      values: [
        {
          id,
          project,
          name,
          hash,
          hint,
          scopes: allowed,
          created_at: key.createdAt,
          expires_at: key.expiresAt,
          revoked_at: key.revokedAt,
          version,
        },
      ],
    })
    this.#writes += 1
    this.#keys.set(hash, key)
  }

  /** Higher than any version of this row, whichever server wrote it: a revoked key stays revoked. */
  async #nextVersion(table: 'projects' | 'keys', id: string): Promise<number> {
    await this.#versions.observe(table, 'id = {id:String}', { id })
    return this.#versions.next()
  }

  async #read<Row>(query: string): Promise<Row[]> {
    const result = await this.#client.query({ query, format: 'JSONEachRow' })
    return result.json<Row>()
  }
}

function slug(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 63)
}
