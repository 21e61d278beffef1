import { statfs } from 'node:fs/promises'
import type { Engine } from './open-engine.ts'

/** Below this, nothing is written. It leaves room for a small statement, even if another process writes too. */
export const MIN_FREE_BYTES = 16 * 1024 ** 2
/** A disk with more free space than this does not fill up between two checks. */
const AMPLE_FREE_BYTES = 1024 ** 3
const CHECK_INTERVAL_MS = 500
/** A merge that hit the full disk may run for minutes before its result replaces the merged parts. */
const KEEP_CHECKING_MS = 600_000

const writing = /^(?:\/\*.*?\*\/\s*)?(?:INSERT|CREATE|ALTER|DELETE)\b/i
const creating = /^(?:\/\*.*?\*\/\s*)?CREATE ((?:DATABASE|TABLE) IF NOT EXISTS \w+)/i

type Disk = {
  freeBytes: () => Promise<number>
  /** Called when space gets low, once until there is enough again. */
  onLow: (freeBytes: number) => void
  /** Ends this process, so that no pending request gets a response. */
  endProcess: (reason: string) => Promise<never>
}

/**
 * chDB does not notice when a write fails because the disk is full: it reports an insert with truncated files as done, and
 * replaces good parts with an unreadable merged one. So on a nearly full disk, every new part is read once: before an insert
 * is reported as done, and long before the parts that a merge replaced are deleted. An incomplete part ends this process. At
 * the next start the engine finds it, sets it aside and goes back to the parts it was merged from.
 */
export function withCheckedWrites(engine: Engine, { freeBytes, onLow, endProcess }: Disk): Engine {
  let ending: Promise<never> | undefined
  const endOnce = (reason: string) => (ending ??= endProcess(reason))
  const parts = new PartChecker(engine, endOnce)
  let checkUntilMs = -Infinity

  async function checkParts(): Promise<void> {
    const left = await freeBytes()
    const isLow = left < AMPLE_FREE_BYTES
    const wasChecking = performance.now() < checkUntilMs
    if (isLow) checkUntilMs = performance.now() + KEEP_CHECKING_MS
    if (isLow && !wasChecking) {
      onLow(left)
      await parts.begin()
    }
    if (isLow || wasChecking) await parts.check()
  }

  const timer = setInterval(() => void checkParts().catch(() => undefined), CHECK_INTERVAL_MS)
  timer.unref()

  return {
    ...engine,
    async run(statement, prepare) {
      if (!writing.test(statement)) return engine.run(statement, prepare)
      if ((await freeBytes()) < MIN_FREE_BYTES && !(await existsAlready(statement, prepare)))
        throw noSpaceLeft()
      const result = await engine.run(statement, prepare)
      // If the check itself fails, the insert can't be confirmed. The next start checks all parts.
      await checkParts().catch((error: Error) => endOnce(error.message))
      return result
    },
    close() {
      clearInterval(timer)
      return engine.close()
    },
  }

  /** A `CREATE … IF NOT EXISTS` of something that exists writes nothing. */
  async function existsAlready(statement: string, prepare: string[]): Promise<boolean> {
    const [, what] = creating.exec(statement) ?? []
    if (what === undefined) return false
    const { bytes } = await engine.run(`EXISTS ${what.replace(/if not exists/i, '')}`, prepare)
    return Buffer.from(bytes).toString().trim() === '1'
  }
}

/** The error of ClickHouse. */
export function noSpaceLeft(): Error {
  return new Error('Code: 243. DB::Exception: Not enough space left on the disk. (NOT_ENOUGH_SPACE)')
}

/** Reads each new part once, to verify that it is complete. */
class PartChecker {
  readonly #engine: Engine
  readonly #endProcess: (reason: string) => Promise<never>
  #verified = new Set<string>()
  #lastPass: Promise<void> = Promise.resolve()

  constructor(engine: Engine, endProcess: (reason: string) => Promise<never>) {
    this.#engine = engine
    this.#endProcess = endProcess
  }

  /** Trusts the parts that are older than a minute: they were written before the disk was low. */
  async begin(): Promise<void> {
    this.#verified = new Set(await this.#list('modification_time < now() - 60'))
  }

  /** Resolves when all parts that exist now are verified. */
  check(): Promise<void> {
    this.#lastPass = this.#lastPass.catch(() => undefined).then(() => this.#checkAll())
    return this.#lastPass
  }

  async #checkAll(): Promise<void> {
    const parts = await this.#list()
    for (const part of parts) if (!this.#verified.has(part)) await this.#checkOne(part)
    this.#verified = new Set(parts)
  }

  async #checkOne(part: string): Promise<void> {
    const problem = await this.#rows(`CHECK TABLE ${part} SETTINGS check_query_single_value_result = 0`).then(
      ([row]) => (row?.split('\t')[1] === '1' ? undefined : (row ?? 'no result')),
      (error: Error) => error.message,
    )
    // A part that was merged in the meantime is gone; the part that replaced it gets its own check.
    if (problem !== undefined && (await this.#list()).includes(part)) await this.#endProcess(problem)
  }

  /** The parts as `database.table PART 'name'`, the syntax of CHECK TABLE. */
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

/** The free bytes on the disk of a folder; undefined if the file system does not report them. */
export async function freeBytesOf(folder: string): Promise<number | undefined> {
  const { blocks, bavail, bsize } = await statfs(folder)
  return blocks === 0 ? undefined : bavail * bsize
}
