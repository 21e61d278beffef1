import type { PriceOverride } from '@playhead/model'
import { priceOverrideSchema, scopes, type Project } from '../api/schemas/settings.ts'
import type { BadRows } from '../store/bad-rows.ts'
import { isProjectId } from '../store/project-id.ts'
import { parseList } from '../store/stored-fields.ts'
import type { StoredKey } from './registry.ts'

export type ProjectRow = Omit<Project, 'priceOverrides'> & { overrides: string }

const MAX_RETENTION_DAYS = 36_500

/** Why a project can't be used at all; undefined if it can. */
export function findProjectFault({ id }: Pick<ProjectRow, 'id'>): string | undefined {
  return isProjectId(id) ? undefined : 'its id is not a valid project id'
}

/** Reads projects. One with a bad id is left out; bad prices and a bad retention are dropped. Each is reported. */
export function readProjects(rows: readonly ProjectRow[], badRows: BadRows): Map<string, Project> {
  const projects = new Map<string, Project>()
  for (const { overrides, ...row } of rows) {
    const fault = findProjectFault(row)
    if (fault !== undefined) {
      badRows.note('projects', row.id, `It was left out: ${fault}.`)
      continue
    }
    const { prices, faults } = readPrices(overrides)
    const retentionFault = findRetentionFault(row.retentionDays)
    for (const problem of [...faults, ...(retentionFault === undefined ? [] : [retentionFault])])
      badRows.note('projects', row.id, problem)
    projects.set(row.id, {
      ...row,
      retentionDays: retentionFault === undefined ? row.retentionDays : null,
      priceOverrides: prices,
    })
  }
  return projects
}

/** The prices in a project's column, and what is wrong with the others. */
export function readPrices(text: string): { prices: PriceOverride[]; faults: string[] } {
  let items: object[]
  try {
    items = parseList(text || '[]')
  } catch (error) {
    return { prices: [], faults: [`Its prices were left out: ${(error as Error).message}`] }
  }
  const prices: PriceOverride[] = []
  const faults: string[] = []
  for (const [index, item] of items.entries()) {
    const parsed = priceOverrideSchema.safeParse(item)
    if (parsed.success) prices.push(parsed.data as PriceOverride)
    else {
      const [issue] = parsed.error.issues
      faults.push(`Price ${index + 1} was left out: ${issue?.path.join('.')} ${issue?.message}`)
    }
  }
  return { prices, faults }
}

export function findRetentionFault(days: number | null): string | undefined {
  if (days === null || (Number.isInteger(days) && days >= 1 && days <= MAX_RETENTION_DAYS)) return undefined
  return `Its retention of ${days} days was ignored; it keeps sessions forever.`
}

/** Reads keys. One that can't be what we wrote, or that belongs to no project, is left out and reported. */
export function readKeys(
  rows: readonly StoredKey[],
  projects: ReadonlyMap<string, Project>,
  badRows: BadRows,
): Map<string, StoredKey> {
  const keys = new Map<string, StoredKey>()
  for (const row of rows) {
    const fault = findKeyFault(row) ?? (projects.has(row.project) ? undefined : 'its project does not exist')
    if (fault === undefined) keys.set(row.hash, row)
    else badRows.note('keys', row.id, `It was left out and does not work: ${fault}.`)
  }
  return keys
}

const knownScopes: ReadonlySet<string> = new Set(scopes)

/** Why a key can't be used; undefined if it can. */
export function findKeyFault({
  id,
  hash,
  scopes: given,
}: Pick<StoredKey, 'id' | 'hash' | 'scopes'>): string | undefined {
  if (id === '') return 'it has no id'
  if (!/^[0-9a-f]{64}$/.test(hash)) return 'its hash is not a SHA-256'
  const unknown = given.find((scope) => !knownScopes.has(scope))
  return unknown === undefined ? undefined : `it has the unknown scope "${unknown}"`
}
