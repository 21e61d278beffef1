/** Bits for each session, of which four are set: one unknown session in 400 looks known. */
const BITS_EACH = 16
const MIN_BITS = 2 ** 22
const MAX_BITS = 2 ** 29
const PROBES = 4
/** A session counts by the first 16 digits of its id. */
const DIGITS = 16

/**
 * Tells sessions that the store has never seen from those that it may have seen, without asking it: a Bloom filter, so a
 * session that was seen is never taken for a new one. Before it has read what is stored, every session may have been seen.
 */
export class KnownSessions {
  #bits = new Uint32Array(MIN_BITS / 32)
  #count = 0
  #isComplete = false
  /** Those that arrived before the stored ones were read. */
  #early: [first: number, second: number][] = []

  /** Whether this session may have been seen; then remembers it. */
  checkAndAdd(sessionId: string): boolean {
    const first = Number.parseInt(sessionId.slice(0, 8), 16)
    const second = Number.parseInt(sessionId.slice(8, DIGITS), 16)
    if (Number.isNaN(first) || Number.isNaN(second)) return true
    const wasSet = this.#set(first, second)
    if (!this.#isComplete) this.#early.push([first, second])
    // Too full to be of use. What it says stays right.
    return wasSet || !this.#isComplete || this.#count * BITS_EACH > this.#bits.length * 32 * 2
  }

  /** Adds the sessions that are stored: the first 8 bytes of each id. */
  addStored(ids: Buffer): void {
    const count = ids.length / 8
    const wanted = 2 ** Math.ceil(Math.log2(Math.max(MIN_BITS, 2 * count * BITS_EACH)))
    if (wanted / 32 > this.#bits.length) this.#bits = new Uint32Array(Math.min(wanted, MAX_BITS) / 32)
    for (const [first, second] of this.#early) this.#set(first, second)
    for (let at = 0; at + 8 <= ids.length; at += 8) this.#set(ids.readUInt32BE(at), ids.readUInt32BE(at + 4))
    this.#early = []
    this.#isComplete = true
  }

  #set(first: number, second: number): boolean {
    const mask = this.#bits.length * 32 - 1
    let isSet = true
    for (let probe = 0; probe < PROBES; probe++) {
      const bit = (first + Math.imul(probe, second | 1)) & mask
      const flag = 1 << (bit & 31)
      if ((this.#bits[bit >>> 5]! & flag) === 0) isSet = false
      this.#bits[bit >>> 5]! |= flag
    }
    if (!isSet) this.#count += 1
    return isSet
  }
}
