const BLOCK = 512

const FIRST_ENTRY = 'backup.json'
/** Written last, so its presence means that the backup is complete. */
const LAST_ENTRY = 'end.json'

/** Reads the entry names of a tar stream as it passes, to tell whether it is a complete backup. */
export class BackupArchive {
  #firstEntry: string | undefined
  #lastEntry: string | undefined
  /** Bytes left of the current entry, padding included. */
  #toSkip = 0
  #header = Buffer.alloc(0)
  #isEnded = false

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

  get isBackup(): boolean {
    return this.#firstEntry === FIRST_ENTRY
  }

  get isComplete(): boolean {
    return this.#isEnded && this.#lastEntry === LAST_ENTRY
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

/** Octal digits; for 8 GB and more a binary number, marked by its first bit. */
function readSize(header: Buffer): number {
  if ((header[124]! & 0x80) !== 0) return Number(header.readBigUInt64BE(128))
  return Number.parseInt(readField(header, 124, 12).trim(), 8) || 0
}
