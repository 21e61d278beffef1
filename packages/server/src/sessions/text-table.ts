const CHUNK_BYTES = 1024 * 1024
const FIRST_SLOTS = 1024
/** Of each record: two hashes of its key, and the sizes of its key and its text. */
const HEAD_BYTES = 16

/**
 * Texts by key, outside of the heap: a hundred thousand objects that live for minutes are moved and marked by the garbage collector
 * again and again. A text is removed with all others only.
 */
export class TextTable {
  /** Where the record of a key is, plus one; 0 if the slot is free. */
  #slots = new Uint32Array(FIRST_SLOTS)
  /** Those after `#chunk` are free. */
  readonly #chunks: Buffer[] = []
  #chunk = -1
  #used = CHUNK_BYTES
  #count = 0

  get size(): number {
    return this.#count
  }

  /** The memory that it takes, with the texts that others replaced. */
  get bytes(): number {
    return (this.#chunk + 1) * CHUNK_BYTES
  }

  /** Empties the table and keeps its memory for what comes. */
  clear(): void {
    this.#slots.fill(0)
    this.#chunk = -1
    this.#used = CHUNK_BYTES
    this.#count = 0
  }

  get(key: string): string | undefined {
    const at = this.#slots[this.#slotOf(key, hashOf(key, FIRST_SEED))]!
    return at === 0 ? undefined : this.#read(at - 1).text
  }

  /** A text that is too large is not kept. */
  set(key: string, text: string): void {
    const hash = hashOf(key, FIRST_SEED)
    const slot = this.#slotOf(key, hash)
    const at = this.#write(key, text, hash)
    if (at === undefined) return
    if (this.#slots[slot] === 0) this.#count += 1
    this.#slots[slot] = at + 1
    if (this.#count * 2 > this.#slots.length) this.#grow()
  }

  /** The slot of this key, or the free one where it belongs. */
  #slotOf(key: string, hash: number): number {
    const second = hashOf(key, SECOND_SEED)
    const mask = this.#slots.length - 1
    let slot = hash & mask
    for (; this.#slots[slot] !== 0; slot = (slot + 1) & mask) {
      const at = this.#slots[slot]! - 1
      const { chunk, start } = this.#place(at)
      const isLike = chunk.readUInt32LE(start) === hash && chunk.readUInt32LE(start + 4) === second
      if (isLike && this.#read(at).key === key) break
    }
    return slot
  }

  #read(at: number): { key: string; text: string } {
    const { chunk, start } = this.#place(at)
    const textAt = start + HEAD_BYTES + chunk.readUInt32LE(start + 8)
    return {
      key: chunk.toString('utf8', start + HEAD_BYTES, textAt),
      text: chunk.toString('utf8', textAt, textAt + chunk.readUInt32LE(start + 12)),
    }
  }

  #write(key: string, text: string, hash: number): number | undefined {
    // A character takes at most three bytes.
    const most = HEAD_BYTES + 3 * (key.length + text.length)
    if (most > CHUNK_BYTES) return undefined
    if (this.#used + most > CHUNK_BYTES) {
      this.#chunk += 1
      this.#used = 0
    }
    const chunk = (this.#chunks[this.#chunk] ??= Buffer.allocUnsafeSlow(CHUNK_BYTES))
    const start = this.#used
    const keyBytes = chunk.write(key, start + HEAD_BYTES)
    const textBytes = chunk.write(text, start + HEAD_BYTES + keyBytes)
    chunk.writeUInt32LE(hash, start)
    chunk.writeUInt32LE(hashOf(key, SECOND_SEED), start + 4)
    chunk.writeUInt32LE(keyBytes, start + 8)
    chunk.writeUInt32LE(textBytes, start + 12)
    this.#used += HEAD_BYTES + keyBytes + textBytes
    return this.#chunk * CHUNK_BYTES + start
  }

  #place(at: number): { chunk: Buffer; start: number } {
    return { chunk: this.#chunks[Math.floor(at / CHUNK_BYTES)]!, start: at % CHUNK_BYTES }
  }

  #grow(): void {
    const slots = new Uint32Array(this.#slots.length * 2)
    const mask = slots.length - 1
    for (const at of this.#slots) {
      if (at === 0) continue
      const { chunk, start } = this.#place(at - 1)
      let slot = chunk.readUInt32LE(start) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = at
    }
    this.#slots = slots
  }
}

const FIRST_SEED = 0x811c9dc5
const SECOND_SEED = 0x9747b28c

/** FNV-1a. */
function hashOf(text: string, seed: number): number {
  let hash = seed
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  // Its lowest bits depend on the lowest bits of the characters only.
  return (hash ^ (hash >>> 15)) >>> 0
}
