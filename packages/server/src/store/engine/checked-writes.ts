import { statfs } from 'node:fs/promises'
import type { Engine } from './open-engine.ts'

/** With less than this nothing is written: what a small statement writes finds room, whoever else writes meanwhile. */
export const ROOM_TO_WRITE = 16 * 1024 ** 2
/** A disk with more than this does not fill up between two looks. */
const ROOM_TO_TRUST = 1024 ** 3
const LOOK_EVERY_MS = 500
/** A merge that met the full disk may go on for minutes before it takes the place of what it was made of. */
const WATCHED_AFTERWARDS_MS = 600_000

const writing = /^(?:\/\*.*?\*\/\s*)?(?:INSERT|CREATE|ALTER|DELETE)\b/i
const creating = /^(?:\/\*.*?\*\/\s*)?CREATE ((?:DATABASE|TABLE) IF NOT EXISTS \w+)/i

type Disk = {
  /** Bytes that may still be written. */
  room: () => Promise<number>
  /** Told when there is little left, once until there was enough again. */
  onLow: (room: number) => void
  /** Ends this process, so that nobody gets an answer from it any more. */
  endProcess: (reason: string) => Promise<never>
}

/**
 * chDB does not notice that a write failed for want of room: it calls an insert done whose files were cut short, and
 * replaces good parts by a merged one that can't be read. So on a disk that is nearly full each new part is read once,
 * before an insert is called done and long before the parts that a merge replaced are deleted. A part that is not whole
 * ends this process: at the next start the engine finds it, puts it aside and goes back to those that it was made of.
 */
export function withCheckedWrites(engine: Engine, { room, onLow, endProcess }: Disk): Engine {
  let ending: Promise<never> | undefined
  const endOnce = (reason: string) => (ending ??= endProcess(reason))
  const parts = new NewParts(engine, endOnce)
  let watchedUntilMs = -Infinity

  async function look(): Promise<void> {
    const left = await room()
    const isLow = left < ROOM_TO_TRUST
    const wasWatched = performance.now() < watchedUntilMs
    if (isLow) watchedUntilMs = performance.now() + WATCHED_AFTERWARDS_MS
    if (isLow && !wasWatched) {
      onLow(left)
      await parts.begin()
    }
    if (isLow || wasWatched) await parts.check()
  }

  const timer = setInterval(() => void look().catch(() => undefined), LOOK_EVERY_MS)
  timer.unref()

  return {
    ...engine,
    async run(statement, prepare) {
      if (!writing.test(statement)) return engine.run(statement, prepare)
      if ((await room()) < ROOM_TO_WRITE && !(await isThereAlready(statement, prepare)))
        throw new Error('Code: 243. DB::Exception: Not enough space left on the disk. (NOT_ENOUGH_SPACE)')
      const result = await engine.run(statement, prepare)
      // Where nobody can look, nobody may say that it is done: the next start looks at everything.
      await look().catch((error: Error) => endOnce(error.message))
      return result
    },
    close() {
      clearInterval(timer)
      return engine.close()
    },
  }

  /** What every start asks for and only the first one creates. */
  async function isThereAlready(statement: string, prepare: string[]): Promise<boolean> {
    const [, what] = creating.exec(statement) ?? []
    if (what === undefined) return false
    const { bytes } = await engine.run(`EXISTS ${what.replace(/if not exists/i, '')}`, prepare)
    return Buffer.from(bytes).toString().trim() === '1'
  }
}

/** Which parts were read to see that they are whole. */
class NewParts {
  readonly #engine: Engine
  readonly #endProcess: (reason: string) => Promise<never>
  #whole = new Set<string>()
  #lastPass: Promise<void> = Promise.resolve()

  constructor(engine: Engine, endProcess: (reason: string) => Promise<never>) {
    this.#engine = engine
    this.#endProcess = endProcess
  }

  /** Trusts what was there before the disk was low, but for the last minute. */
  async begin(): Promise<void> {
    this.#whole = new Set(await this.#list('modification_time < now() - 60'))
  }

  /** Resolves when all that there is at the call was found to be whole. */
  check(): Promise<void> {
    this.#lastPass = this.#lastPass.catch(() => undefined).then(() => this.#checkAll())
    return this.#lastPass
  }

  async #checkAll(): Promise<void> {
    const parts = await this.#list()
    for (const part of parts) if (!this.#whole.has(part)) await this.#checkOne(part)
    this.#whole = new Set(parts)
  }

  async #checkOne(part: string): Promise<void> {
    const problem = await this.#rows(`CHECK TABLE ${part} SETTINGS check_query_single_value_result = 0`).then(
      ([row]) => (row?.split('\t')[1] === '1' ? undefined : (row ?? 'no answer')),
      (error: Error) => error.message,
    )
    // A part that was merged meanwhile can't be asked for; the one that took its place is looked at in its turn.
    if (problem !== undefined && (await this.#list()).includes(part)) await this.#endProcess(problem)
  }

  /** As `database.table PART 'name'`, which is how a statement names one. */
  #list(condition = '1'): Promise<string[]> {
    return this.#rows(
      `SELECT concat(database, '.', table, ' PART ''', name, '''') FROM system.parts WHERE active AND ${condition} FORMAT TSVRaw`,
    )
  }

  async #rows(statement: string): Promise<string[]> {
    const { bytes } = await this.#engine.run(statement, [])
    return Buffer.from(bytes)
      .toString()
      .split('\n')
      .filter((line) => line !== '')
  }
}

/** Bytes that may still be written to the disk of a folder; undefined where the file system does not say. */
export async function freeBytesOf(folder: string): Promise<number | undefined> {
  const { blocks, bavail, bsize } = await statfs(folder)
  return blocks === 0 ? undefined : bavail * bsize
}
