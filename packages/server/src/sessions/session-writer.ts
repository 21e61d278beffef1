import { randomUUID } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { NativeBlock } from '../log/native-block.ts'
import type { Store } from '../store/connect.ts'
import { sessionColumns, type ListedSession, type SessionRow } from '../store/sessions-table.ts'

/** The most rows of one insert. */
const MAX_ROWS = 5_000

/** Blocks that no insert uses: their buffers grow to some megabytes. */
const spareBlocks: NativeBlock<SessionRow>[] = []
const MAX_KEPT_BYTES = 16 * 1024 * 1024

function newBlock(): NativeBlock<SessionRow> {
  return spareBlocks.pop() ?? new NativeBlock(sessionColumns)
}

function keepBlock(block: NativeBlock<SessionRow>): void {
  if (spareBlocks.length > 0 || block.bytes > MAX_KEPT_BYTES) return
  block.clear()
  spareBlocks.push(block)
}

/** Collects rows of `sessions` and inserts them together. Encodes each at once: a row refers to all steps of its session. */
export class SessionWriter {
  readonly #store: Store
  readonly #directory: string
  readonly #onWritten: (row: ListedSession) => void
  #block: NativeBlock<SessionRow> | undefined
  #rows: ListedSession[] = []
  #hasFlushed = false

  /** `directory` holds the rows of an insert as a temporary file. */
  constructor(store: Store, directory: string, onWritten: (row: ListedSession) => void) {
    this.#store = store
    this.#directory = directory
    this.#onWritten = onWritten
  }

  add(row: SessionRow): void {
    this.#block ??= newBlock()
    this.#block.append(row)
    const { project, bucket, version, isDeleted, startedAtMs, lastHeardAtMs, endState, summary } = row
    this.#rows.push({ project, bucket, version, isDeleted, startedAtMs, lastHeardAtMs, endState, summary })
  }

  /** Lists what was added before it is in the store, if that is the rows of these sessions and nothing else. */
  list(ids: readonly string[]): boolean {
    const isListable =
      !this.#hasFlushed &&
      this.#rows.every(({ isDeleted, summary }) => !isDeleted && ids.includes(summary.id))
    if (isListable) this.#store.sessions.listed(this.#rows)
    return isListable
  }

  get isFull(): boolean {
    return this.#rows.length >= MAX_ROWS
  }

  /** Inserts what was added since the last call. */
  async flush(): Promise<void> {
    const [block, rows] = [this.#block, this.#rows]
    if (block === undefined || rows.length === 0) return
    this.#block = undefined
    this.#rows = []
    this.#hasFlushed = true
    await mkdir(this.#directory, { recursive: true })
    const path = join(this.#directory, `${randomUUID()}.native`)
    try {
      await writePieces(path, block.pieces())
      const columns = Object.keys(sessionColumns).join(', ')
      // As for steps: replaced rows go with the first merge, and readers expect some anyway.
      await this.#store.insertFile(`INSERT INTO sessions (${columns}) FORMAT Native`, path, randomUUID(), {
        optimize_on_insert: 0,
      })
      this.#store.sessions.written(rows)
    } catch (error) {
      // It may have been stored all the same.
      this.#store.sessions.changed()
      throw error
    } finally {
      keepBlock(block)
      await rm(path, { force: true })
    }
    for (const row of rows) this.#onWritten(row)
  }
}

async function writePieces(path: string, pieces: readonly Buffer[]): Promise<void> {
  const file = await open(path, 'w')
  try {
    const { bytesWritten } = await file.writev(pieces)
    if (bytesWritten < pieces.reduce((sum, piece) => sum + piece.length, 0))
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  } finally {
    await file.close()
  }
}
