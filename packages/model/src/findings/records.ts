import { isRecord } from '../json/attribute-value.ts'
import { resultOf, type Trajectory, type Turn } from './trajectory.ts'

/** An object with an id that an action returned. */
export type KnownRecord = {
  id: string
  /** The name of the field with the id. */
  idField: string
  /** What state it is in, if it says so: "pending". */
  state: string | undefined
  /** The field that says that it can't be used: "available". */
  refusedBy: string | undefined
  /** Its own numbers and ids. */
  values: readonly string[]
  turn: Turn
}

const MAX_DEPTH = 6
const MOST_RECORDS = 5_000
const idFields = /(?:^|_)(?:id|number|code)$|Id$/
const stateFields = /(?:^|_)(?:status|state)$|(?:Status|State)$/
const flags = /^(?:is_?)?(?:available|in_?stock|active|enabled|eligible|valid|usable)$/i
/** Only results with such a field are read: parsing all of a long session would take too long. */
const hasTelling =
  /"(?:\w*(?:status|state)|(?:is_?)?(?:available|in_?stock|active|enabled|eligible|valid|usable))"\s*:/i

/** States that records go through, as most programs name them. */
export const lifecycle =
  /\b(?:pending|process(?:ed|ing)|delivered|shipped|cancell?ed|completed?|active|inactive|closed|open|paid|unpaid|approved|rejected|expired|confirmed|returned|refunded|failed|draft|published|archived|suspended|scheduled)\b/gi

/** The records that actions returned, in the order of the session. */
export function readRecords({ actions }: Pick<Trajectory, 'actions'>): KnownRecord[] {
  const records: KnownRecord[] = []
  for (const turn of actions) {
    if (records.length >= MOST_RECORDS) break
    if (hasTelling.test(turn.text)) collect(resultOf(turn), turn, records)
  }
  return records
}

function collect(value: unknown, turn: Turn, records: KnownRecord[], depth = 0): void {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return
  if (isRecord(value)) {
    const record = toRecord(value, turn)
    if (record !== undefined) records.push(record)
  }
  for (const item of Object.values(value)) collect(item, turn, records, depth + 1)
}

function toRecord(value: Record<string, unknown>, turn: Turn): KnownRecord | undefined {
  const fields = Object.entries(value)
  const id = fields.find(([name, item]) => idFields.test(name) && isTelling(item))
  if (id === undefined) return undefined
  const state = fields.find(([name, item]) => stateFields.test(name) && typeof item === 'string')
  return {
    id: String(id[1]),
    idField: id[0],
    state: state === undefined ? undefined : String(state[1]),
    refusedBy: fields.find(([name, item]) => item === false && flags.test(name))?.[0],
    values: fields.flatMap(([, item]) => (isTelling(item) ? [String(item)] : [])),
    turn,
  }
}

/** Ids, and numbers that hardly come up by chance. */
function isTelling(value: unknown): boolean {
  if (typeof value === 'number') return /\d{4}|\d\.\d/.test(String(value))
  return typeof value === 'string' && value.length <= 60 && /^\S*\d{3}\S*$/.test(value)
}
