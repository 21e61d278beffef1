import { execFileSync } from 'node:child_process'
import {
  closeSync,
  mkdtempSync,
  openSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PAGE_BYTES = 4096
const CHUNK_BYTES = 1024 * 1024

/** A filesystem of its own, small enough to be filled. Only the superuser can make one: root, or sudo without asking. */
export class SmallDisk {
  readonly path: string
  readonly #asRoot: string[]
  readonly #ballast: string

  private constructor(path: string, asRoot: string[]) {
    this.path = path
    this.#asRoot = asRoot
    this.#ballast = join(path, 'ballast')
  }

  /** Undefined where this machine does not let us. */
  static create(megabytes: number): SmallDisk | undefined {
    const path = mkdtempSync(join(tmpdir(), 'playhead-disk-'))
    for (const asRoot of [[], ['sudo', '-n']]) {
      try {
        run(asRoot, ['mount', '-t', 'tmpfs', '-o', `size=${megabytes}m,mode=777`, 'tmpfs', path])
        return new SmallDisk(path, asRoot)
      } catch {
        // Not allowed this way; perhaps the next.
      }
    }
    rmdirSync(path)
    return undefined
  }

  /** Fills it to the last page, or until this many bytes are left. */
  fill(bytesLeft = 0): void {
    const file = openSync(this.#ballast, 'a')
    for (const size of [CHUNK_BYTES, PAGE_BYTES]) while (isWritten(file, size)) continue
    closeSync(file)
    if (bytesLeft > 0) truncateSync(this.#ballast, Math.max(0, statSync(this.#ballast).size - bytesLeft))
  }

  makeRoom(): void {
    rmSync(this.#ballast, { force: true })
  }

  remove(): void {
    run(this.#asRoot, ['umount', '-l', this.path])
    rmdirSync(this.path)
  }
}

function run(asRoot: string[], command: string[]): void {
  const [program, ...options] = [...asRoot, ...command]
  execFileSync(program!, options, { stdio: 'ignore' })
}

function isWritten(file: number, size: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(size, 1)) === size
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false
    throw error
  }
}
