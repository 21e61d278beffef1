import { shapeOfText, TIME_SHAPE, type VolatileToken } from '../align/text-shape.ts'

/** Ids that providers and frameworks make up for every call. */
const madeByProvider = /^(?:call|toolu|tooluse|chatcmpl|cmpl|resp|msg|fc|rs|req|run|srvtoolu|gen|lc)[_-]/i
const shapeKinds = [
  ['uuid', '⟨uuid⟩'],
  ['time', TIME_SHAPE],
  ['id', ''],
] as const

export type MappedCounts = { uuid: number; time: number; id: number }

/**
 * Which ids of a run stand for which ids of the tape. A uuid, hash or time that stands where a recorded one stood is
 * that one from then on; an id that the tape knows elsewhere never is.
 */
export class VolatileIds {
  readonly #known: ReadonlySet<string>
  readonly #liveOfTaped: Map<string, string>
  readonly #tapedOfLive: Map<string, string>

  constructor(known: ReadonlySet<string>, from?: VolatileIds) {
    this.#known = known
    this.#liveOfTaped = new Map(from === undefined ? [] : from.#liveOfTaped)
    this.#tapedOfLive = new Map(from === undefined ? [] : from.#tapedOfLive)
  }

  /** A copy to try a match with; it replaces this one if the match is taken. */
  fork(): VolatileIds {
    return new VolatileIds(this.#known, this)
  }

  /** True when the texts are equal except for ids and times that correspond. */
  isSameText(taped: string, live: string): boolean {
    if (taped === live) return true
    const [tapedTokens, liveTokens]: VolatileToken[][] = [[], []]
    const tapedShape = shapeOfText(taped, (token) => tapedTokens!.push(token))
    const liveShape = shapeOfText(live, (token) => liveTokens!.push(token))
    if (tapedShape !== liveShape) return false
    return tapedTokens!.every((token, index) => this.#isSame(token, liveTokens![index]!))
  }

  /** How many ids and times of the run differ from those of the tape. */
  get mapped(): MappedCounts {
    const counts: MappedCounts = { uuid: 0, time: 0, id: 0 }
    for (const taped of this.#liveOfTaped.keys()) {
      const shape = shapeOfText(taped)
      const kind = shapeKinds.find(([, known]) => known === shape)?.[0] ?? 'id'
      counts[kind] += 1
    }
    return counts
  }

  #isSame(taped: VolatileToken, live: VolatileToken): boolean {
    if (taped.text === live.text) return true
    if (taped.shape === TIME_SHAPE) {
      this.#liveOfTaped.set(taped.text, live.text)
      return true
    }
    const isPrefixed = taped.shape.endsWith('id⟩') && taped.shape !== '⟨uuid⟩'
    if (isPrefixed && !madeByProvider.test(taped.text)) return false
    const [knownLive, knownTaped] = [this.#liveOfTaped.get(taped.text), this.#tapedOfLive.get(live.text)]
    if (knownLive === undefined && knownTaped === undefined) {
      if (this.#known.has(live.text)) return false
      this.#liveOfTaped.set(taped.text, live.text)
      this.#tapedOfLive.set(live.text, taped.text)
      return true
    }
    return knownLive === live.text && knownTaped === taped.text
  }
}
