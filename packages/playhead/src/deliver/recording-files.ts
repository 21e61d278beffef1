import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toRecording } from '@playhead/model'
import type { RecordedSpan } from '../record/opentelemetry/recorded-span.ts'
import type { Recorder } from '../record/session/recorder.ts'
import { trueNowMs } from '../record/opentelemetry/clock.ts'
import type { SessionRecord } from '../record/session/session-record.ts'

/** Running sessions are rewritten at this interval, so a killed process loses no more than that. */
const WRITE_RUNNING_AFTER_MS = 2000
const WRITE_ENDED_AFTER_MS = 20

/** What is used of the recorder. */
type Source = Pick<Recorder, 'readSession' | 'reporter' | 'scope'>

/** Writes each session to its own recording file, as one line of JSON. */
export class RecordingFiles {
  folder: string | undefined
  readonly #source: Source
  readonly #changed = new Set<SessionRecord>()
  #timer: NodeJS.Timeout | undefined
  #work: Promise<void> | undefined

  constructor(source: Source) {
    this.#source = source
  }

  get hasWork(): boolean {
    return this.#changed.size > 0 || this.#work !== undefined
  }

  onStepStart(_span: RecordedSpan, record: SessionRecord): void {
    this.#markChanged(record)
  }

  onStepEnd(_span: RecordedSpan, record: SessionRecord): void {
    this.#markChanged(record)
  }

  pathOf(record: SessionRecord): string | undefined {
    return this.folder === undefined ? undefined : join(this.folder, fileName(record))
  }

  /** Writes all changed sessions and waits for it. */
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

  #markChanged(record: SessionRecord): void {
    if (this.folder === undefined) return
    this.#changed.add(record)
    const isEnded = record.open.size === 0
    if (this.#timer !== undefined && !isEnded) return
    clearTimeout(this.#timer)
    this.#source.scope.detach(() => {
      this.#timer = setTimeout(
        () => void this.#writeChanged(),
        isEnded ? WRITE_ENDED_AFTER_MS : WRITE_RUNNING_AFTER_MS,
      )
      this.#timer.unref()
    })
  }

  #writeChanged(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#work ??= this.#write()
      .catch((error: Error) => {
        const line = `Can't write recordings to ${this.folder}: ${error.message}`
        this.#source.reporter.once('dir', line)
      })
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
    // A trace that became part of another session has no steps of its own.
    return records.filter(({ ended, open }) => ended.length + open.size > 0)
  }

  #contentOf(record: SessionRecord): string {
    const recording = toRecording(
      this.#source.readSession(record, { isPriced: true }),
      new Date(trueNowMs()).toISOString(),
    )
    return `${JSON.stringify(recording)}\n`
  }
}

/** Sorts by time and contains the session's short id. Parts of a session from different processes have separate files. */
function fileName({ id, startedAtMs, partId }: SessionRecord): string {
  const time = new Date(startedAtMs).toISOString().slice(0, 19).replaceAll(':', '-')
  const part = partId === undefined ? '' : `-${partId.slice(0, 8)}`
  return `${time}-s_${id.slice(0, 8)}${part}.jsonl`
}
