/** A body in the pieces in which it arrived. Joining them is one more copy of all that senders send, so whoever can do without does. */
export class ReceivedBody {
  #pieces: readonly Buffer[]
  readonly length: number

  constructor(pieces: readonly Buffer[]) {
    this.#pieces = pieces
    this.length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  }

  get pieces(): readonly Buffer[] {
    return this.#pieces
  }

  /** Its first bytes. */
  get start(): Buffer {
    return this.#pieces[0] ?? this.whole()
  }

  /** The body in one piece. */
  whole(): Buffer {
    if (this.#pieces.length !== 1) this.#pieces = [Buffer.concat(this.#pieces)]
    return this.#pieces[0]!
  }
}

export const NO_BODY = new ReceivedBody([])
