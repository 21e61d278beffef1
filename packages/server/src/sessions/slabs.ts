/** Where a piece of memory is. */
export type Piece = { slab: Slab; start: number; end: number }

type Slab = { bytes: Buffer; used: number; pieces: number }

const SLAB_BYTES = 1024 * 1024
/** Empty slabs that are kept for the next pieces. */
const MAX_SPARE = 16

/**
 * Memory for pieces that are freed in about the order in which they came. A Buffer for each would be freed by the next full garbage
 * collection only, and every 64 MB of Buffers asks for one.
 */
export class Slabs {
  #current = newSlab(SLAB_BYTES)
  readonly #spare: Slab[] = []

  store(bytes: Buffer): Piece {
    if (this.#current.used + bytes.length > this.#current.bytes.length) this.#begin(bytes.length)
    const slab = this.#current
    const start = slab.used
    bytes.copy(slab.bytes, start)
    slab.used += bytes.length
    slab.pieces += 1
    return { slab, start, end: slab.used }
  }

  /** Call it once for each piece. Nothing may read it from then on. */
  free({ slab }: Piece): void {
    slab.pieces -= 1
    if (slab.pieces > 0) return
    slab.used = 0
    const isKept = slab.bytes.length === SLAB_BYTES && this.#spare.length < MAX_SPARE
    if (slab !== this.#current && isKept) this.#spare.push(slab)
  }

  #begin(bytes: number): void {
    const isEmpty = this.#current.pieces === 0 && this.#current.bytes.length === SLAB_BYTES
    if (isEmpty) this.#spare.push(this.#current)
    this.#current = bytes > SLAB_BYTES ? newSlab(bytes) : (this.#spare.pop() ?? newSlab(SLAB_BYTES))
  }
}

export function bytesOf({ slab, start, end }: Piece): Buffer {
  return slab.bytes.subarray(start, end)
}

function newSlab(bytes: number): Slab {
  return { bytes: Buffer.allocUnsafeSlow(bytes), used: 0, pieces: 0 }
}
