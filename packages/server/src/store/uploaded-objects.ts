import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { DamagedFiles } from '../log/damaged-files.ts'
import { isProjectId } from './project-id.ts'

/** AgentOps has the same limit. */
export const MAX_OBJECT_BYTES = 25 * 1024 * 1024

export type ObjectPlace = { project: string; name: string }

/** Objects too large for an attribute, stored as files. Each is named by the hash of its content, so duplicates are one file. */
export class UploadedObjects {
  readonly #folder: string
  readonly #damaged: DamagedFiles | undefined

  constructor(dataDirectory: string, damaged?: DamagedFiles) {
    this.#folder = join(dataDirectory, 'objects')
    this.#damaged = damaged
  }

  /** Resolves once the object is on disk, with the name to read it by. */
  async keep(project: string, content: Buffer): Promise<string> {
    const name = nameOf(content)
    const folder = join(this.#folder, project)
    await mkdir(folder, { recursive: true })
    const draft = join(folder, `${name}.${randomUUID()}`)
    try {
      await writeSynced(draft, content)
      await rename(draft, join(folder, name))
    } catch (error) {
      await rm(draft, { force: true })
      throw error
    }
    return name
  }

  /** An object that is not what was stored is kept aside and reported, never returned. */
  async read({ project, name }: ObjectPlace): Promise<Buffer | undefined> {
    if (!isObjectName(name)) return undefined
    const path = join(this.#folder, project, name)
    const content = await readFile(path).catch(whenMissing)
    if (content === undefined || nameOf(content) === name) return content
    await this.#damaged?.add(`object-${name}`, (aside) => rename(path, aside), {
      problem: `An uploaded object of project "${project}" is damaged: its content does not match its hash.`,
      blocks: null,
      rows: null,
    })
    return undefined
  }

  async has({ project, name }: ObjectPlace): Promise<boolean> {
    return (await stat(join(this.#folder, project, name)).catch(whenMissing)) !== undefined
  }

  async remove({ project, name }: ObjectPlace): Promise<void> {
    await rm(join(this.#folder, project, name), { force: true })
  }

  /** Deletes what a project received before this time, including temporary files that a crash left. */
  async removeOlder(project: string, beforeMs: number): Promise<void> {
    const folder = join(this.#folder, project)
    for (const name of await list(folder)) {
      const path = join(folder, name)
      const found = await stat(path).catch(whenMissing)
      if (found !== undefined && found.mtimeMs < beforeMs) await rm(path, { force: true })
    }
  }

  async *all(): AsyncGenerator<ObjectPlace, void> {
    for (const project of await list(this.#folder)) {
      if (!isProjectId(project)) continue
      for (const name of await list(join(this.#folder, project)))
        if (isObjectName(name)) yield { project, name }
    }
  }
}

/** Which object an entry of a backup holds; undefined if it is not an object. */
export function objectPlaceOf(path: string): ObjectPlace | undefined {
  const [folder, project = '', name = '', ...more] = path.split('/')
  const isPlace = folder === 'objects' && more.length === 0 && isProjectId(project) && isObjectName(name)
  return isPlace ? { project, name } : undefined
}

async function writeSynced(path: string, content: Buffer): Promise<void> {
  const file = await open(path, 'wx')
  try {
    await file.writeFile(content)
    await file.datasync()
  } finally {
    await file.close()
  }
}

function nameOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

function isObjectName(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name)
}

async function list(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(whenMissing))?.sort() ?? []
}

function whenMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
  return undefined
}
