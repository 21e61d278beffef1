import { mkdirSync, readdirSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { trueNowMs } from '../record/opentelemetry/clock.ts'
import { contentTypeOf, isSpooledBatch, SPOOLED, type Payload } from './payload.ts'
import type { Target } from './send-batch.ts'

const MAX_BYTES = 64 * 1024 * 1024
const MAX_AGE_MS = 7 * 24 * 3600_000
/** A claimed file that is older than this belongs to a process that has died. */
const ABANDONED_AFTER_MS = 60_000
const CLAIMED = '.sending'

/** A batch on disk, claimed by this process. */
export type SpooledBatch = Payload & { path: string; stepCount: number }

/**
 * Undelivered batches on disk, one file each, in one folder per server and key. Files are created and claimed by atomic
 * renames, so any number of processes can share the folder.
 */
export class Spool {
  readonly #root: string
  readonly #target: Target
  /** Called with the number of steps that were discarded to stay within limits. */
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
      // Loaded on demand, because it takes longer to load than the rest of this package.
      const { createHash } = process.getBuiltinModule('node:crypto')
      const owner = createHash('sha256')
        .update(`${endpoint}\n${apiKey ?? ''}`)
        .digest('hex')
      this.#ownFolder = join(this.#root, owner.slice(0, 16))
    }
    return this.#ownFolder
  }

  /** Returns false, and counts the steps as dropped, if the batch alone is larger than the spool may be. */
  async write(bytes: Uint8Array, stepCount: number): Promise<boolean> {
    const byteCount = bytes.length
    if (byteCount > MAX_BYTES) {
      this.#onDropped(stepCount)
      return false
    }
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const files = await Promise.all(
      (await this.#names()).map(async (name) => {
        const { size } = await stat(join(this.#folder, name)).catch(() => ({ size: 0 }))
        return { name, size }
      }),
    )
    for (const name of chooseDeleted(files, byteCount))
      await unlink(join(this.#folder, name)).then(() => this.#onDropped(stepCountOf(name)), isGone)
    const path = join(this.#folder, nameOf(stepCount))
    await writeFile(`${path}.new`, bytes, { mode: 0o600 })
    await rename(`${path}.new`, path)
    return true
  }

  /** For the end of the process, when nothing can be awaited. */
  writeSync(bytes: Uint8Array, stepCount: number): string | undefined {
    const byteCount = bytes.length
    if (byteCount > MAX_BYTES) return undefined
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    const files = readdirSync(this.#folder)
      .sort()
      .map((name) => ({
        name,
        size: statSync(join(this.#folder, name), { throwIfNoEntry: false })?.size ?? 0,
      }))
    for (const name of chooseDeleted(files, byteCount))
      try {
        unlinkSync(join(this.#folder, name))
        this.#onDropped(stepCountOf(name))
      } catch (error) {
        isGone(error)
      }
    const path = join(this.#folder, nameOf(stepCount))
    writeFileSync(`${path}.new`, bytes, { mode: 0o600 })
    renameSync(`${path}.new`, path)
    return path
  }

  /** Claims the oldest batch, until it is removed or released. */
  async claim(): Promise<SpooledBatch | undefined> {
    await this.#releaseAbandoned()
    for (const name of await this.#pending()) {
      const path = join(this.#folder, name)
      try {
        await rename(path, path + CLAIMED)
        return {
          path: path + CLAIMED,
          bytes: await readFile(path + CLAIMED),
          contentType: contentTypeOf(path),
          stepCount: stepCountOf(name),
        }
      } catch (error) {
        // Another process claimed it first.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }
    }
    return undefined
  }

  async release({ path }: SpooledBatch): Promise<void> {
    await rename(path, path.slice(0, -CLAIMED.length))
  }

  async remove({ path }: SpooledBatch): Promise<void> {
    await unlink(path)
  }

  /** Oldest first, because names start with the time. */
  async #pending(): Promise<string[]> {
    return (await this.#names()).filter(isSpooledBatch)
  }

  async #names(): Promise<string[]> {
    try {
      return (await readdir(this.#folder)).sort()
    } catch {
      return []
    }
  }

  async #releaseAbandoned(): Promise<void> {
    for (const name of await this.#names()) {
      if (!name.endsWith(CLAIMED)) continue
      const path = join(this.#folder, name)
      const { ctimeMs } = await stat(path).catch(() => ({ ctimeMs: trueNowMs() }))
      if (trueNowMs() - ctimeMs > ABANDONED_AFTER_MS)
        await rename(path, path.slice(0, -CLAIMED.length)).catch(() => undefined)
    }
  }
}

type SpoolFile = { name: string; size: number }

/** Which files must be deleted for a new one: those that are too old, and the oldest ones if there is not enough room. */
function chooseDeleted(files: readonly SpoolFile[], byteCount: number): string[] {
  // Files that are being written or sent take room as well.
  let total = byteCount + files.reduce((sum, file) => sum + file.size, 0)
  return files
    .filter(({ name, size }) => {
      const isOld = trueNowMs() - Number(name.split('-', 1)[0]) > MAX_AGE_MS
      if (!isSpooledBatch(name) || (!isOld && total <= MAX_BYTES)) return false
      total -= size
      return true
    })
    .map(({ name }) => name)
}

/** Another process sent or deleted the file first; any other error is the caller's. */
function isGone(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}

let writtenCount = 0

/** Unique across processes. The step count lets us count the steps of a deleted batch. */
function nameOf(stepCount: number): string {
  writtenCount += 1
  const order = String(writtenCount).padStart(6, '0')
  return `${trueNowMs()}-${process.pid}-${order}-${Math.random().toString(36).slice(2, 8)}-${stepCount}${SPOOLED}`
}

function stepCountOf(name: string): number {
  return Number(/-(\d+)\.(?:otlp|json)/.exec(name)?.[1] ?? 0)
}
