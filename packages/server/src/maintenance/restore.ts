import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Registry } from '../access/registry.ts'
import type { RestorePlan } from '../api/schemas/restore.ts'
import { KnownError } from '../errors/known-error.ts'
import type { DuplicateCalls } from '../sessions/duplicate-calls.ts'
import type { SessionRefresher } from '../sessions/refresh-sessions.ts'
import type { SessionReader } from '../sessions/session-reader.ts'
import type { SessionTags } from '../sessions/session-tags.ts'
import type { StoredLogs } from '../sessions/stored-logs.ts'
import type { Store } from '../store/connect.ts'
import { UploadedObjects, type ObjectPlace } from '../store/uploaded-objects.ts'
import { insertWords } from '../store/words-table.ts'
import { readBackup } from './read-backup.ts'
import { checkIncoming } from './restore-checks.ts'
import { planRestore } from './restore-plan.ts'
import {
  createStage,
  deleteRestored,
  dropStage,
  insertStage,
  keepIncoming,
  saveReplaced,
  tableNames,
  TOUCHED_SESSIONS,
} from './restore-tables.ts'

export type RestoreTargets = {
  store: Store
  dataDirectory: string
  storedLogs: StoredLogs
  duplicates: DuplicateCalls
  tags: SessionTags
  objects: UploadedObjects
  registry: Registry
  refresher: SessionRefresher
  reader: SessionReader
  /** Reads monitors and destinations again. */
  reloadWatch: () => Promise<unknown>
  /** Flushes the log: what was acknowledged before the restore must be in the store. */
  drain: () => Promise<void>
  report: (line: string) => void
}

/** The restore that was begun last. It is on disk, so that the next start finds one that was interrupted. */
type Journal = {
  state: 'preparing' | 'applying' | 'applied' | 'undoing'
  restoredAt: string
  plan: RestorePlan
  /** Objects that were not there before. */
  addedObjects: ObjectPlace[]
}

const REFRESH_BATCH = 200

/** Restores backups: checks all of one first, then adds it, and can take the last one back. One at a time. */
export class Restorer {
  readonly #targets: RestoreTargets
  readonly #folder: string
  #isBusy = false

  private constructor(targets: RestoreTargets) {
    this.#targets = targets
    this.#folder = join(targets.dataDirectory, 'restore')
  }

  /** Undoes a restore that was interrupted. */
  static async open(targets: RestoreTargets): Promise<Restorer> {
    const restorer = new Restorer(targets)
    const journal = await restorer.#readJournal()
    if (journal === undefined || journal.state === 'applied') return restorer
    const { report } = targets
    if (journal.state === 'preparing') {
      await restorer.#forget()
      report('A restore was interrupted before it changed anything. Restore the backup again.')
    } else {
      await restorer.#takeBack(journal)
      report('A restore was interrupted. Everything it had added was removed; restore the backup again.')
    }
    return restorer
  }

  /** Checks a backup and adds its contents; with `isDryRun`, only says what it would do. */
  restore(body: Readable, options: { withKeys: boolean; isDryRun: boolean }): Promise<RestorePlan> {
    return this.#alone(async () => {
      const { store } = this.#targets
      const staged = new UploadedObjects(this.#folder)
      try {
        await createStage(store, 'incoming')
        const head = await readBackup(store, staged, body)
        await checkIncoming(store, {
          withKeys: options.withKeys,
          knownProjects: this.#targets.registry.projects().map(({ id }) => id),
          nowMs: Date.now(),
        })
        const objects: ObjectPlace[] = []
        for await (const place of staged.all()) objects.push(place)
        const plan = await planRestore(store, {
          backupCreatedAt: head.createdAt,
          objects: objects.length,
          withKeys: options.withKeys,
        })
        if (!options.isDryRun) await this.#apply(plan, staged, objects)
        return plan
      } finally {
        await dropStage(store, 'incoming')
        await rm(join(this.#folder, 'objects'), { recursive: true, force: true })
      }
    })
  }

  /** The restore that `undo` would take back. */
  async last(): Promise<{ restoredAt: string; plan: RestorePlan } | null> {
    const journal = await this.#readJournal()
    return journal?.state === 'applied' ? { restoredAt: journal.restoredAt, plan: journal.plan } : null
  }

  /** Takes the last restore back: removes what it added, and returns what it replaced. */
  undo(): Promise<RestorePlan> {
    return this.#alone(async () => {
      const journal = await this.#readJournal()
      if (journal === undefined)
        throw new KnownError(
          'CONFLICT',
          'There is no restore to undo: none was made, or the last was undone.',
        )
      await this.#takeBack(journal)
      return journal.plan
    })
  }

  async #apply(plan: RestorePlan, staged: UploadedObjects, objects: ObjectPlace[]): Promise<void> {
    const { store, storedLogs, duplicates, tags, drain } = this.#targets
    await drain()
    const addedObjects: ObjectPlace[] = []
    for (const place of objects) if (!(await this.#targets.objects.has(place))) addedObjects.push(place)
    const journal: Journal = { state: 'preparing', restoredAt: new Date().toISOString(), plan, addedObjects }
    await this.#writeJournal(journal)
    await saveReplaced(store)
    await keepIncoming(store)
    await this.#writeJournal({ ...journal, state: 'applying' })
    try {
      storedLogs.expectSome()
      duplicates.expectSome()
      tags.expectSome()
      const tables = tableNames.filter((table) => table !== 'keys' || plan.keys.isIncluded)
      await insertStage(store, 'restored', tables)
      for (const place of addedObjects)
        await this.#targets.objects.keep(place.project, (await staged.read(place))!)
      await this.#refresh()
      await this.#writeJournal({ ...journal, state: 'applied' })
    } catch (error) {
      await this.#takeBack(journal)
      throw error
    }
  }

  /** Can be repeated: if it is interrupted, the next start does it again. */
  async #takeBack(journal: Journal): Promise<void> {
    const { store, storedLogs, drain, objects } = this.#targets
    await this.#writeJournal({ ...journal, state: 'undoing' })
    await drain()
    storedLogs.expectSome()
    await deleteRestored(store, Date.parse(journal.restoredAt))
    await insertStage(store, 'replaced', tableNames)
    for (const place of journal.addedObjects) await objects.remove(place)
    await this.#refresh()
    await this.#forget()
  }

  /** Computes the sessions that the restore touched, of the steps that are there now. */
  async #refresh(): Promise<void> {
    const { store, registry, refresher, reader, reloadWatch } = this.#targets
    await registry.reload()
    await reloadWatch()
    for (let last = ['', '']; ;) {
      const result = await store.client.query({
        query: `SELECT project, session_id FROM (${TOUCHED_SESSIONS})
          WHERE (project, session_id) > ({project:String}, {session:String})
          ORDER BY project, session_id LIMIT ${REFRESH_BATCH}`,
        query_params: { project: last[0], session: last[1] },
        format: 'JSONEachRow',
      })
      const rows = await result.json<{ project: string; session_id: string }>()
      for (const [project, sessions] of Map.groupBy(rows, (row) => row.project)) {
        const ids = sessions.map(({ session_id }) => session_id)
        for (const id of ids) reader.invalidate(project, id)
        await refresher.refresh(project, ids)
        // Restored rows have no segment by which their words could be built later.
        await insertWords(store, {
          condition: 'project = {project:String} AND session_id IN {ids:Array(String)}',
          params: { project, ids },
        })
      }
      const end = rows.at(-1)
      if (end === undefined) return
      last = [end.project, end.session_id]
    }
  }

  async #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isBusy)
      throw new KnownError('CONFLICT', 'Another restore is running on this server. Wait until it is done.')
    this.#isBusy = true
    try {
      return await work()
    } finally {
      this.#isBusy = false
    }
  }

  async #forget(): Promise<void> {
    for (const stage of ['incoming', 'restored', 'replaced'] as const)
      await dropStage(this.#targets.store, stage)
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #readJournal(): Promise<Journal | undefined> {
    const path = join(this.#folder, 'journal.json')
    try {
      return JSON.parse(await readFile(path, 'utf8')) as Journal
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      if (!(error instanceof SyntaxError)) throw error
      this.#targets.report(`The last restore can't be undone: ${path} is damaged.`)
      return undefined
    }
  }

  async #writeJournal(journal: Journal): Promise<void> {
    await mkdir(this.#folder, { recursive: true })
    const path = join(this.#folder, 'journal.json')
    const file = await open(`${path}.new`, 'w')
    try {
      await file.writeFile(JSON.stringify(journal))
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(`${path}.new`, path)
  }
}
