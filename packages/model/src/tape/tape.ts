import { compareValues } from '../align/compare-values.ts'
import { shapeOfValue } from '../align/fingerprint-session.ts'
import { hashText, shapeOfText } from '../align/text-shape.ts'
import { isRecord } from '../json/attribute-value.ts'
import type { Session } from '../session/session.ts'
import { pickStub } from './action-rules.ts'
import { entriesOfCassette, type Cassette } from './cassette.ts'
import { readMeaning, settingsOf, type AskedStep, type Meaning } from './meaning.ts'
import { explainActionMiss, explainModelMiss, type TapeMiss } from './tape-miss.ts'
import {
  collectTexts,
  declaredArguments,
  readEntries,
  type ActionEntry,
  type ModelEntry,
  type TapeEntry,
} from './tape-entry.ts'
import { VolatileIds, type MappedCounts } from './volatile-ids.ts'

export type TapeOptions = {
  /** Text that differs from run to run, besides ids and times. */
  volatile?: readonly RegExp[]
}

/**
 * Answers a run from recorded sessions and cassettes. Each entry is used once: repeats are served in recorded order,
 * parallel calls by what they ask. The first source wins; further ones fill what it lacks.
 */
export class Tape {
  readonly entries: readonly TapeEntry[]
  readonly misses: TapeMiss[] = []
  readonly #byPrint = new Map<number, ModelEntry[]>()
  readonly #byName = new Map<string, ActionEntry[]>()
  readonly #volatile: readonly RegExp[]
  #ids: VolatileIds

  constructor(sources: readonly (Session | Cassette)[], { volatile = [] }: TapeOptions = {}) {
    this.#volatile = volatile.map((pattern) => new RegExp(pattern, withGlobal(pattern.flags)))
    this.entries = sources.flatMap((source) =>
      'meta' in source ? entriesOfCassette(source) : readEntries(source),
    )
    const ids = new Set<string>()
    collectTexts(this.entries, (text) => shapeOfText(text, (token) => ids.add(token.text)))
    this.#ids = new VolatileIds(ids)
    for (const entry of this.entries) {
      if (entry.kind === 'model') this.#add(this.#byPrint, this.#print(entry.asked), entry)
      else this.#add(this.#byName, entry.name, entry)
    }
  }

  /** The recorded call that asked the same, or the reason why there is none. */
  takeModelCall(live: AskedStep, isWanted: Wanted = isAny): ModelEntry | TapeMiss {
    const found = this.findModelCall(live, isWanted)
    if (found !== undefined) return found
    const models = this.entries.filter((entry) => entry.kind === 'model').filter(isWanted)
    return this.#miss(explainModelMiss(readMeaning(live), models, this.#masked()))
  }

  /** As `takeModelCall`, among some of the entries; undefined if none of them asked the same. */
  findModelCall(live: AskedStep, isWanted: Wanted): ModelEntry | undefined {
    const asked = readMeaning(live)
    const candidates = (this.#byPrint.get(this.#print(asked)) ?? []).filter(isWanted)
    return this.#take(candidates, (entry, ids) => this.#asksTheSame(entry.asked, asked, ids))
  }

  /** The recorded action of that name with these arguments, or the reason why there is none. */
  takeAction(name: string, given: unknown, isWanted: Wanted = isAny): ActionEntry | TapeMiss {
    const found = this.findAction(name, given, isWanted)
    if (found !== undefined) return found
    const actions = this.actionsNamed(name).filter(isWanted)
    return this.#miss(explainActionMiss({ name, given }, actions, this.#masked()))
  }

  /** As `takeAction`, among some of the entries; undefined if none of them has these arguments. */
  findAction(name: string, given: unknown, isWanted: Wanted): ActionEntry | undefined {
    const candidates = this.actionsNamed(name).filter(isWanted)
    return (
      this.#take(candidates, (entry, ids) => this.#isSame(entry.arguments, given, ids)) ??
      this.#take(candidates, (entry, ids) => this.#isDeclaredSame(entry.arguments, given, ids))
    )
  }

  /** The recorded actions of a name, asked for or not. */
  actionsNamed(name: string): readonly ActionEntry[] {
    return this.#byName.get(name) ?? []
  }

  /** The recorded call whose result stands in for a call that must not be made. */
  findStub(name: string, given: unknown): ActionEntry | undefined {
    return pickStub(this.actionsNamed(name), given, this.#masked())
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

  #isDeclaredSame(taped: unknown, live: unknown, ids: VolatileIds): boolean {
    const declared = declaredArguments(taped, live)
    return declared !== undefined && this.#isSame(declared, live, ids)
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

/** Which entries may answer. */
type Wanted = (entry: TapeEntry) => boolean

const isAny: Wanted = () => true

function withGlobal(flags: string): string {
  return flags.includes('g') ? flags : `${flags}g`
}

export function isMiss(found: TapeEntry | TapeMiss): found is TapeMiss {
  return 'sentence' in found
}
