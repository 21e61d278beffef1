import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toRecording, type Session } from '@playhead/model'
import type { RecordedSpan } from '../record/opentelemetry/recorded-span.ts'
import type { SessionRecord } from '../record/session/session-record.ts'

/** A running session is written again this often at most: what a killed process leaves is at most so old. */
const WRITE_EVERY_MS = 2000
const WRITE_ENDED_AFTER_MS = 20

export type RecordingFilesOptions = {
  sessionOf: (record: SessionRecord) => Session
  outside: (callback: () => void) => void
  onProblem: (error: unknown) => void
}

/** Sessions as files: one line of JSON each, a recording, in a file of its own. */
export class RecordingFiles {
  folder: string | undefined
  readonly #options: RecordingFilesOptions
  readonly #changed = new Set<SessionRecord>()
  #timer: NodeJS.Timeout | undefined
  #work: Promise<void> | undefined

  constructor(options: RecordingFilesOptions) {
    this.#options = options
  }

  get hasWork(): boolean {
    return this.#changed.size > 0 || this.#work !== undefined
  }

  onStepStart(_span: RecordedSpan, record: SessionRecord): void {
    this.#note(record)
  }

  onStepEnd(_span: RecordedSpan, record: SessionRecord): void {
    this.#note(record)
  }

  pathOf(record: SessionRecord): string | undefined {
    return this.folder === undefined ? undefined : join(this.folder, fileName(record))
  }

  /** Writes what has changed and waits until it is on disk. */
  async flush(): Promise<void> {
    await this.#work
    await this.#writeChanged()
  }

  flushSync(): void {
    const { folder } = this
    if (folder === undefined || this.#changed.size === 0) return
    mkdirSync(folder, { recursive: true })
    for (const record of this.#takeChanged()) {
      const path = join(folder, fileName(record))
      writeFileSync(`${path}.last`, this.#contentOf(record))
      renameSync(`${path}.last`, path)
    }
  }

  #note(record: SessionRecord): void {
    if (this.folder === undefined) return
    this.#changed.add(record)
    const isOver = record.open.size === 0
    if (this.#timer !== undefined && !isOver) return
    clearTimeout(this.#timer)
    this.#options.outside(() => {
      this.#timer = setTimeout(
        () => void this.#writeChanged(),
        isOver ? WRITE_ENDED_AFTER_MS : WRITE_EVERY_MS,
      )
      this.#timer.unref()
    })
  }

  #writeChanged(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#work ??= this.#write()
      .catch(this.#options.onProblem)
      .then(() => {
        this.#work = undefined
      })
    return this.#work
  }

  async #write(): Promise<void> {
    const { folder } = this
    if (folder === undefined || this.#changed.size === 0) return
    await mkdir(folder, { recursive: true })
    for (const record of this.#takeChanged()) {
      const path = join(folder, fileName(record))
      await writeFile(`${path}.new`, this.#contentOf(record))
      await rename(`${path}.new`, path)
    }
  }

  #takeChanged(): SessionRecord[] {
    const records = [...this.#changed]
    this.#changed.clear()
    return records
  }

  #contentOf(record: SessionRecord): string {
    const recording = toRecording(this.#options.sessionOf(record), new Date().toISOString())
    return `${JSON.stringify(recording)}\n`
  }
}

/** Sorted by time, and found again by the first digits of the session's id; the parts of a session do not share a file. */
function fileName({ id, startedAtMs, partId }: SessionRecord): string {
  const time = new Date(startedAtMs).toISOString().slice(0, 19).replaceAll(':', '-')
  const part = partId === undefined ? '' : `-${partId.slice(0, 8)}`
  return `${time}-s_${id.slice(0, 8)}${part}.jsonl`
}
