import { execFile, execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PAGE_BYTES = 4096
const CHUNK_BYTES = 1024 * 1024
/** More than the server of a test needs, but few enough to use up quickly. */
const MAX_FILES = 20_000
/** Parts consist of many small files, which stay for minutes after a merge. */
const LOOP_FILES = 300_000

/** A file system small enough to fill. Mounting one needs root, or sudo without a password. */
export class SmallDisk {
  readonly path: string
  readonly #asRoot: string[]
  readonly #ballast: string
  readonly #files: string
  readonly #image: string | undefined

  private constructor(path: string, asRoot: string[], image?: string) {
    this.path = path
    this.#asRoot = asRoot
    this.#ballast = join(path, 'ballast')
    this.#files = join(path, 'files')
    this.#image = image
  }

  /** Undefined if this machine does not allow it. */
  static create(megabytes: number): SmallDisk | undefined {
    const path = mkdtempSync(join(tmpdir(), 'playhead-disk-'))
    for (const asRoot of [[], ['sudo', '-n']]) {
      try {
        run(asRoot, [
          'mount',
          '-t',
          'tmpfs',
          '-o',
          `size=${megabytes}m,nr_inodes=${MAX_FILES},mode=777`,
          'tmpfs',
          path,
        ])
        return new SmallDisk(path, asRoot)
      } catch {
        // Not allowed; try the next way.
      }
    }
    rmdirSync(path)
    return undefined
  }

  /** Like `create`, but ext4 in a file behind a loop device, which can be frozen. Undefined without a loop device. */
  static createOnLoop(megabytes: number): SmallDisk | undefined {
    const path = mkdtempSync(join(tmpdir(), 'playhead-disk-'))
    const image = `${path}.img`
    for (const asRoot of [[], ['sudo', '-n']]) {
      try {
        writeFileSync(image, '')
        truncateSync(image, megabytes * 1024 * 1024)
        run([], ['mkfs.ext4', '-q', '-F', '-m', '0', '-N', String(LOOP_FILES), image])
        run(asRoot, ['mount', '-o', 'loop,noatime', image, path])
        const disk = new SmallDisk(path, asRoot, image)
        run(asRoot, ['chmod', '777', path])
        run(asRoot, ['sh', '-c', 'fsfreeze --freeze "$0" && fsfreeze --unfreeze "$0"', path])
        return disk
      } catch {
        // Not allowed; try the next way.
      }
    }
    rmSync(image, { force: true })
    rmdirSync(path)
    return undefined
  }

  /** Whether `hold` works. */
  get isSlowable(): boolean {
    return this.#image !== undefined
  }

  /** Blocks all writes and syncs for this long. The shell releases them even if this process is gone. */
  async hold(milliseconds: number): Promise<void> {
    const [program, ...rest] = [
      ...this.#asRoot,
      'sh',
      '-c',
      HOLD,
      this.path,
      (milliseconds / 1_000).toFixed(3),
    ]
    await new Promise<void>((resolve, reject) => {
      execFile(program, rest, (error) => (error === null ? resolve() : reject(error)))
    })
  }

  /** Fills the disk to the last page, or until `bytesLeft` are free. */
  fill(bytesLeft = 0): void {
    const file = openSync(this.#ballast, 'a')
    for (const size of [CHUNK_BYTES, PAGE_BYTES]) while (isWritten(file, size)) continue
    closeSync(file)
    if (bytesLeft > 0) truncateSync(this.#ballast, Math.max(0, statSync(this.#ballast).size - bytesLeft))
  }

  /** Creates files until no inodes are left, however many bytes are free. */
  useUpFiles(): void {
    mkdirSync(this.#files, { recursive: true })
    while (isMade(join(this.#files, randomUUID()))) continue
  }

  makeRoom(): void {
    rmSync(this.#ballast, { force: true })
    rmSync(this.#files, { recursive: true, force: true })
  }

  remove(): void {
    run(this.#asRoot, ['umount', '-l', this.path])
    rmdirSync(this.path)
    if (this.#image !== undefined) rmSync(this.#image, { force: true })
  }
}

const HOLD = 'fsfreeze --freeze "$0"; sleep "$1"; fsfreeze --unfreeze "$0"'

function run(asRoot: string[], command: string[]): void {
  const [program, ...options] = [...asRoot, ...command]
  execFileSync(program!, options, { stdio: 'ignore' })
}

function isWritten(file: number, size: number): boolean {
  return fits(() => writeSync(file, Buffer.alloc(size, 1)) === size)
}

function isMade(path: string): boolean {
  return fits(() => {
    writeFileSync(path, '')
    return true
  })
}

/** False if the disk was full. */
function fits(write: () => boolean): boolean {
  try {
    return write()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false
    throw error
  }
}
