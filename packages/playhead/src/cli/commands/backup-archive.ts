const BLOCK = 512

/** A backup begins with what made it, and ends with a mark that says it is whole. */
export const BACKUP_FIRST_ENTRY = 'backup.json'
export const BACKUP_LAST_ENTRY = 'end.json'

/** Reads the names of a tar file's entries as its bytes pass by, to know whether it is whole. */
export class TarCheck {
  #firstEntry: string | undefined
  #lastEntry: string | undefined
  /** Bytes of the current entry that are still to come, with their padding. */
  #toSkip = 0
  #header = Buffer.alloc(0)
  #isEnded = false

  /** Takes the next bytes. */
  add(chunk: Uint8Array): void {
    let offset = 0
    while (offset < chunk.length && !this.#isEnded) {
      const skipped = Math.min(this.#toSkip, chunk.length - offset)
      this.#toSkip -= skipped
      offset += skipped
      if (this.#toSkip > 0) return
      const part = chunk.subarray(offset, offset + BLOCK - this.#header.length)
      offset += part.length
      this.#header = Buffer.concat([this.#header, part])
      if (this.#header.length === BLOCK) this.#readHeader()
    }
  }

  get firstEntry(): string | undefined {
    return this.#firstEntry
  }

  /** True when the archive was ended, and `name` is the last thing in it. */
  endsWith(name: string): boolean {
    return this.#isEnded && this.#lastEntry === name
  }

  #readHeader(): void {
    const header = this.#header
    this.#header = Buffer.alloc(0)
    if (header[0] === 0) {
      this.#isEnded = true
      return
    }
    this.#lastEntry = readField(header, 0, 100)
    this.#firstEntry ??= this.#lastEntry
    const size = readSize(header)
    this.#toSkip = Math.ceil(size / BLOCK) * BLOCK
  }
}

function readField(header: Buffer, from: number, length: number): string {
  const field = header.subarray(from, from + length)
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end === -1 ? length : end)
}

/** Octal digits; from 8 GB on, a binary number that is marked by its first bit. */
function readSize(header: Buffer): number {
  if ((header[124]! & 0x80) !== 0) return Number(header.readBigUInt64BE(128))
  return Number.parseInt(readField(header, 124, 12).trim(), 8) || 0
}
