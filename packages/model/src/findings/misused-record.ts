import { hasFailed } from '../session/failure.ts'
import { oneLine } from '../format/visible-text.ts'
import { capitalize, evidenceAt, nameTurn, quoteMatch, toClue } from './clue.ts'
import type { Clue } from './finding.ts'
import { lifecycle, readRecords, type KnownRecord } from './records.ts'
import { callText, isWrite, type Trajectory, type Turn } from './trajectory.ts'

/** Finds statements and calls that contradict what a result says about a record: its state, or that it can't be used. */
export function findMisusedRecords(run: Trajectory): Clue[] {
  if (!run.hasFailed) return []
  const records = readRecords(run)
  if (records.length === 0) return []
  return [...findWrongState(run, records), ...findUnusable(run, records), ...findLeftOut(run, records)]
}

/** Whatever changed a record since it was read may have changed its state. */
function isChanged(record: KnownRecord, { position }: Turn, { actions }: Trajectory): boolean {
  return actions.some(
    (action) =>
      action.position > record.turn.position &&
      action.position < position &&
      isWrite(action) &&
      callText(action).includes(record.id),
  )
}

const MOST_CLUES = 5
/** "If it is delivered", "will be cancelled", "can't be returned": no statement about what is. */
const noStatement =
  /\b(?:if|once|when|whether|until|unless|will|would|can|cannot|could|should|may|might|be|been|not|to|for|want|wanted|cancel|return|exchange|only|either|or)\b[^.\n]{0,24}$/i

/** "Delivered orders (A and B)", where the result for B says "processed". */
function findWrongState(run: Trajectory, records: readonly KnownRecord[]): Clue[] {
  const withState = records.filter(({ state }) => state !== undefined && wordsIn(state).length > 0)
  const clues: Clue[] = []
  for (const turn of run.decisions) {
    if (clues.length === MOST_CLUES) break
    const said = findWrongClause(turn, withState, run)
    if (said === undefined) continue
    const { record, word, clause } = said
    clues.push(
      toClue(
        'fail-plausible/wrong-state',
        turn,
        clues.length === 0 ? 1 : 0.5,
        `${capitalize(nameTurn(turn))} calls ${record.id} ${word}, but ${nameTurn(record.turn)} returned "${record.state}".`,
        [
          evidenceAt(turn, 'output', clause),
          evidenceAt(record.turn, 'output', quoteMatch(record.turn.text, stateIn(record))),
        ],
      ),
    )
  }
  return clues
}

function stateIn({ state }: KnownRecord): RegExp {
  return new RegExp(`"\\w*(?:status|state)":\\s*"${state!.replaceAll(/[^\w ]/g, '.')}"`, 'i')
}

function findWrongClause(
  turn: Turn,
  records: readonly KnownRecord[],
  run: Trajectory,
): { record: KnownRecord; word: string; clause: string } | undefined {
  for (const clause of turn.text.split(/\n+|(?<=[.!?;])\s+/)) {
    const [word, ...more] = wordsIn(clause)
    if (word === undefined || more.length > 0) continue
    const before = clause.slice(0, clause.toLowerCase().indexOf(word))
    if (noStatement.test(before)) continue
    const known = records.filter(
      (record) => record.turn.position < turn.position && clause.includes(record.id),
    )
    // The newest result counts.
    const record = known.at(-1)
    if (record === undefined || isChanged(record, turn, run)) continue
    if (!wordsIn(record.state!).includes(word)) return { record, word, clause }
  }
  return undefined
}

/** The different states that a text names. */
function wordsIn(text: string): string[] {
  return [...new Set((text.match(lifecycle) ?? []).map((word) => word.toLowerCase()))]
}

/** A call with a value that only records have which can't be used: `"available": false`. */
function findUnusable(run: Trajectory, records: readonly KnownRecord[]): Clue[] {
  const refused = new Map<string, KnownRecord>()
  for (const record of records)
    if (record.refusedBy !== undefined) for (const value of record.values) refused.set(value, record)
  if (refused.size === 0) return []
  const usable = new Set(records.flatMap(({ refusedBy, values }) => (refusedBy === undefined ? values : [])))
  const clues: Clue[] = []
  for (const turn of run.actions) {
    if (clues.length === MOST_CLUES) break
    const value = (callText(turn).match(/[\w.#-]*\d[\w.#-]*/g) ?? []).find((word) => {
      const record = refused.get(word)
      return record !== undefined && record.turn.position < turn.position && !usable.has(word)
    })
    const record = value === undefined ? undefined : refused.get(value)
    if (record === undefined || isGiven(value!, turn, run)) continue
    clues.push(
      toClue(
        'bad-argument/unusable',
        turn.author ?? turn,
        clues.length === 0 ? 1 : 0.5,
        `${capitalize(nameTurn(turn))} got ${value}, but ${nameTurn(record.turn)} says that ${record.id} is not ${record.refusedBy!.replace(/^is_?/i, '')}.`,
        [
          evidenceAt(turn, 'arguments', callText(turn)),
          evidenceAt(record.turn, 'output', quoteMatch(record.turn.text, textOf(record.id))),
        ],
        turn,
      ),
    )
  }
  return clues
}

function textOf(id: string): RegExp {
  return new RegExp(id.replaceAll(/[^\w]/g, '.'))
}

/** The user named it, or another result without a word about its use has it. */
function isGiven(value: string, { position }: Turn, { turns, request }: Trajectory): boolean {
  if (request.includes(value)) return true
  return turns.some(
    (turn) =>
      turn.position < position &&
      (turn.role === 'user' || (turn.role === 'action' && !/false/.test(turn.text))) &&
      turn.text.includes(value),
  )
}

const FEWEST_CHANGES = 2
const everything = /\b(?:all|everything|every|each of)\b/i
const done = /\b(?:completed?|updated|changed|done|success\w*|modified|cancell?ed|processed|finished)\b/i

/** "All orders are updated", where one that is in the same state as those was never touched. */
function findLeftOut(run: Trajectory, records: readonly KnownRecord[]): Clue[] {
  const { answer, actions } = run
  if (answer === undefined || !everything.test(answer.text) || !done.test(answer.text)) return []
  const writes = actions.filter((action) => isWrite(action) && !hasFailed(action.step))
  for (const [tool, changes] of Map.groupBy(writes, ({ name }) => name)) {
    if (changes.length < FEWEST_CHANGES) continue
    const calls = changes.map(callText)
    const touched = records.filter(
      ({ id, state, turn }) =>
        state !== undefined &&
        turn.position < changes[0]!.position &&
        calls.some((call) => call.includes(id)),
    )
    const states = new Set(touched.map(({ state, idField }) => `${idField} ${state}`))
    if (touched.length < FEWEST_CHANGES || states.size !== 1) continue
    const left = records.find(
      ({ id, idField, state, turn }) =>
        turn.position < changes[0]!.position &&
        states.has(`${idField} ${state}`) &&
        !writes.some((write) => callText(write).includes(id)),
    )
    if (left === undefined) continue
    return [
      toClue(
        'claim-without-act/left-out',
        answer,
        1,
        `${capitalize(nameTurn(answer))} says "${oneLine(quoteMatch(answer.text, everything), 60)}", but ${tool} was never called for ${left.id}, which is ${left.state} too.`,
        [
          evidenceAt(answer, 'output', quoteMatch(answer.text, everything)),
          evidenceAt(left.turn, 'output', quoteMatch(left.turn.text, stateIn(left))),
        ],
      ),
    ]
  }
  return []
}
