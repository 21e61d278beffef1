import { compareValues } from '../align/compare-values.ts'
import { shapeOfValue } from '../align/fingerprint-session.ts'
import { hashText, shapeOfText } from '../align/text-shape.ts'
import { isRecord } from '../json/attribute-value.ts'
import type { Session } from '../session/session.ts'
import { readMeaning, settingsOf, type AskedStep, type Meaning } from './meaning.ts'
import { explainActionMiss, explainModelMiss, type TapeMiss } from './tape-miss.ts'
import { collectTexts, readEntries, type ActionEntry, type ModelEntry, type TapeEntry } from './tape-entry.ts'
import { VolatileIds, type MappedCounts } from './volatile-ids.ts'

export type TapeOptions = {
  /** Text that differs from run to run, besides ids and times. */
  volatile?: readonly RegExp[]
}

/**
 * Answers a run from recorded sessions. Each entry is used once: repeats are served in recorded order, parallel calls
 * by what they ask. The first session wins; further ones fill what it lacks.
 */
export class Tape {
  readonly entries: readonly TapeEntry[]
  readonly misses: TapeMiss[] = []
  readonly #byPrint = new Map<number, ModelEntry[]>()
  readonly #byName = new Map<string, ActionEntry[]>()
  readonly #volatile: readonly RegExp[]
  #ids: VolatileIds

  constructor(sessions: readonly Session[], { volatile = [] }: TapeOptions = {}) {
    this.#volatile = volatile.map((pattern) => new RegExp(pattern, withGlobal(pattern.flags)))
    this.entries = sessions.flatMap(readEntries)
    const ids = new Set<string>()
    collectTexts(this.entries, (text) => shapeOfText(text, (token) => ids.add(token.text)))
    this.#ids = new VolatileIds(ids)
    for (const entry of this.entries) {
      if (entry.kind === 'model') this.#add(this.#byPrint, this.#print(entry.asked), entry)
      else this.#add(this.#byName, entry.name, entry)
    }
  }

  /** The recorded call that asked the same, or the reason why there is none. */
  takeModelCall(live: AskedStep): ModelEntry | TapeMiss {
    const asked = readMeaning(live)
    const candidates = this.#byPrint.get(this.#print(asked)) ?? []
    const found = this.#take(candidates, (entry, ids) => this.#asksTheSame(entry.asked, asked, ids))
    if (found !== undefined) return found
    const models = this.entries.filter((entry) => entry.kind === 'model')
    return this.#miss(explainModelMiss(asked, models, this.#masked()))
  }

  /** The recorded action of that name with these arguments, or the reason why there is none. */
  takeAction(name: string, given: unknown): ActionEntry | TapeMiss {
    const candidates = this.#byName.get(name) ?? []
    const found = this.#take(candidates, (entry, ids) => this.#isSame(entry.arguments, given, ids))
    return found ?? this.#miss(explainActionMiss({ name, given }, candidates, this.#masked()))
  }

  /** What was recorded and not asked for. */
  get unused(): TapeEntry[] {
    return this.entries.filter(({ isUsed }) => !isUsed)
  }

  /** How many ids and times differed from the recorded ones and were mapped to them. */
  get mapped(): MappedCounts {
    return this.#ids.mapped
  }

  #take<Entry extends TapeEntry>(
    candidates: readonly Entry[],
    isSame: (entry: Entry, ids: VolatileIds) => boolean,
  ): Entry | undefined {
    for (const entry of candidates) {
      if (entry.isUsed) continue
      const ids = this.#ids.fork()
      if (!isSame(entry, ids)) continue
      this.#ids = ids
      entry.isUsed = true
      return entry
    }
    return undefined
  }

  #asksTheSame(taped: Meaning, live: Meaning, ids: VolatileIds): boolean {
    return this.#isSame(taped.messages, live.messages, ids) && this.#isSame(...settingsOf(taped, live), ids)
  }

  #isSame(taped: unknown, live: unknown, ids: VolatileIds): boolean {
    return compareValues(taped, live, this.#masked(ids)).length === 0
  }

  #masked(ids = this.#ids.fork()): { isSameText(taped: string, live: string): boolean } {
    return { isSameText: (taped, live) => ids.isSameText(this.#mask(taped), this.#mask(live)) }
  }

  #mask(text: string): string {
    return this.#volatile.reduce((masked, pattern) => masked.replace(pattern, '⟨volatile⟩'), text)
  }

  #maskAll(value: unknown): unknown {
    if (typeof value === 'string') return this.#mask(value)
    if (Array.isArray(value)) return value.map((item) => this.#maskAll(item))
    if (!isRecord(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.#maskAll(item)]))
  }

  #print({ messages }: Meaning): number {
    return hashText(shapeOfValue(this.#volatile.length === 0 ? messages : this.#maskAll(messages)))
  }

  #miss(miss: TapeMiss): TapeMiss {
    this.misses.push(miss)
    return miss
  }

  #add<Key, Entry>(lists: Map<Key, Entry[]>, key: Key, entry: Entry): void {
    const list = lists.get(key)
    if (list === undefined) lists.set(key, [entry])
    else list.push(entry)
  }
}

function withGlobal(flags: string): string {
  return flags.includes('g') ? flags : `${flags}g`
}

export function isMiss(found: TapeEntry | TapeMiss): found is TapeMiss {
  return 'sentence' in found
}
