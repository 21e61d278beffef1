import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Target } from './send-batch.ts'

const MAX_BYTES = 64 * 1024 * 1024
const MAX_AGE_MS = 7 * 24 * 3600_000
/** A file that a process took to send and did not give back for so long has lost its process. */
const ABANDONED_AFTER_MS = 60_000
const TAKEN = '.sending'

/** A batch that waits on disk. */
export type SpooledBatch = { path: string; text: string; stepCount: number }

/**
 * Batches that could not be delivered, one file each, in a folder of their server and key. Files appear and change hands
 * by being renamed, so any number of processes can share the folder.
 */
export class Spool {
  readonly #root: string
  readonly #target: Target
  /** Called with how many steps were given up to keep within bounds. */
  readonly #onDropped: (stepCount: number) => void
  #ownFolder: string | undefined

  constructor(root: string, target: Target, onDropped: (stepCount: number) => void) {
    this.#root = root
    this.#target = target
    this.#onDropped = onDropped
  }

  get #folder(): string {
    if (this.#ownFolder === undefined) {
      const { endpoint, apiKey } = this.#target
      // Loaded when it is needed: it takes longer to load than the rest of this package.
      const { createHash } = process.getBuiltinModule('node:crypto')
      const owner = createHash('sha256')
        .update(`${endpoint}\n${apiKey ?? ''}`)
        .digest('hex')
      this.#ownFolder = join(this.#root, owner.slice(0, 16))
    }
    return this.#ownFolder
  }

  async write(text: string, stepCount: number): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    await this.#makeRoom(text.length)
    const path = join(this.#folder, nameOf(stepCount))
    await writeFile(`${path}.new`, text, { mode: 0o600 })
    await rename(`${path}.new`, path)
  }

  /** For the end of the process, when nothing else can be waited for. */
  writeSync(text: string, stepCount: number): string {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    const path = join(this.#folder, nameOf(stepCount))
    writeFileSync(`${path}.new`, text, { mode: 0o600 })
    renameSync(`${path}.new`, path)
    return path
  }

  /** The oldest batch, for this process alone until it is removed or given back. */
  async take(): Promise<SpooledBatch | undefined> {
    await this.#reclaim()
    for (const name of await this.#waiting()) {
      const path = join(this.#folder, name)
      try {
        await rename(path, path + TAKEN)
        return {
          path: path + TAKEN,
          text: await readFile(path + TAKEN, 'utf8'),
          stepCount: stepCountOf(name),
        }
      } catch (error) {
        // Another process was faster.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }
    }
    return undefined
  }

  async giveBack({ path }: SpooledBatch): Promise<void> {
    await rename(path, path.slice(0, -TAKEN.length))
  }

  async remove({ path }: SpooledBatch): Promise<void> {
    await unlink(path)
  }

  async isEmpty(): Promise<boolean> {
    return (await this.#waiting()).length === 0
  }

  /** Names begin with the time, so the oldest comes first. */
  async #waiting(): Promise<string[]> {
    return (await this.#names()).filter((name) => name.endsWith('.json'))
  }

  async #names(): Promise<string[]> {
    try {
      return (await readdir(this.#folder)).sort()
    } catch {
      return []
    }
  }

  async #reclaim(): Promise<void> {
    for (const name of await this.#names()) {
      if (!name.endsWith(TAKEN)) continue
      const path = join(this.#folder, name)
      const { ctimeMs } = await stat(path).catch(() => ({ ctimeMs: Date.now() }))
      if (Date.now() - ctimeMs > ABANDONED_AFTER_MS)
        await rename(path, path.slice(0, -TAKEN.length)).catch(() => undefined)
    }
  }

  /** Gives up what is too old and, when there is not enough room, the oldest. */
  async #makeRoom(length: number): Promise<void> {
    const files: { name: string; size: number }[] = []
    for (const name of await this.#waiting()) {
      const { size } = await stat(join(this.#folder, name)).catch(() => ({ size: 0 }))
      files.push({ name, size })
    }
    let total = length + files.reduce((sum, file) => sum + file.size, 0)
    for (const { name, size } of files) {
      const isOld = Date.now() - Number(name.split('-', 1)[0]) > MAX_AGE_MS
      if (!isOld && total <= MAX_BYTES) break
      await unlink(join(this.#folder, name)).catch(() => undefined)
      this.#onDropped(stepCountOf(name))
      total -= size
    }
  }
}

let writtenCount = 0

/** Time, process, order and chance make it unique; the number of steps is for whoever has to give it up. */
function nameOf(stepCount: number): string {
  writtenCount += 1
  const order = String(writtenCount).padStart(6, '0')
  return `${Date.now()}-${process.pid}-${order}-${Math.random().toString(36).slice(2, 8)}-${stepCount}.json`
}

function stepCountOf(name: string): number {
  return Number(/-(\d+)\.json/.exec(name)?.[1] ?? 0)
}
