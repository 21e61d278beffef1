import { shapeOfText } from '../align/text-shape.ts'
import { isRecord } from '../json/attribute-value.ts'
import type { Session } from '../session/session.ts'
import type { Cassette, CassetteAction, CassetteEntry, CassetteMeta } from '../tape/cassette.ts'
import { readMeaning } from '../tape/meaning.ts'
import { sessionsToCassette } from '../tape/session-to-cassette.ts'
import { readEntries, type ModelEntry } from '../tape/tape-entry.ts'

export type JoinedCassette = {
  cassette: Cassette
  /** The actions that run again, because they gave another result in the other session. */
  suspects: string[]
}

export type JoinOptions = {
  meta: Omit<CassetteMeta, 'sessions'>
  /** Also runs suspects that declare that they read: their bug may be in the code, or in what they read. */
  runsReads?: boolean | undefined
}

/**
 * A cassette with the ways of a failed session and of one that shows what it should have done. The failed one comes first,
 * so that the failure repeats until it is fixed, unless the other could then not be followed to its end. An action of the
 * code alone that gave another result runs again: that is where the fix may be.
 */
export function joinSessions(
  failed: Session,
  other: Session | undefined,
  { meta, runsReads = false }: JoinOptions,
): JoinedCassette {
  if (other === undefined) return { cassette: sessionsToCassette([failed], meta), suspects: [] }
  const isOtherFirst = buildsOnOwnAnswers(other, failed)
  const { meta: joined, entries } = sessionsToCassette(isOtherFirst ? [other, failed] : [failed, other], meta)
  const suspects = findSuspects(entries, outsideActions([failed, other], runsReads))
  return {
    cassette: {
      meta: { ...joined, sessions: [failed.session.id, other.session.id] },
      entries: entries.map((entry) =>
        entry.kind === 'action' && suspects.has(keyOf(entry)) ? toRunAgain(entry) : entry,
      ),
    },
    suspects: [...new Set(suspects.values())],
  }
}

/** True if a later question of the session repeats an answer that the other session got otherwise. */
function buildsOnOwnAnswers(session: Session, other: Session): boolean {
  const others = new Map(modelEntries(other).map((entry) => [questionOf(entry), answerOf(entry)]))
  return modelEntries(session).some((entry, index, entries) => {
    const elsewhere = others.get(questionOf(entry))
    const answer = answerOf(entry)
    if (elsewhere === undefined || elsewhere === answer) return false
    return entries.slice(index + 1).some((later) => JSON.stringify(later.asked.messages).includes(answer))
  })
}

function modelEntries(session: Session): ModelEntry[] {
  return readEntries(session).filter((entry) => entry.kind === 'model')
}

function questionOf({ asked }: ModelEntry): string {
  return shapeOfText(JSON.stringify(asked))
}

/** The parts of the reply, as a later question has them. */
function answerOf({ step }: ModelEntry): string {
  const outputs = step.messages?.filter(({ isOutput }) => isOutput === true) ?? []
  const messages = outputs.map(({ role, parts }) => ({ role, parts }))
  const { messages: said } = readMeaning({ ...step, messages })
  return JSON.stringify(said[0]?.parts ?? []).slice(1, -1)
}

/** Actions whose result is not the code's alone: those that declare an effect. */
function outsideActions(sessions: readonly Session[], runsReads: boolean): ReadonlySet<string> {
  const outside = sessions.flatMap(({ steps }) =>
    steps.filter(({ effect }) => effect === 'write' || (effect === 'read' && !runsReads)),
  )
  return new Set(outside.map(({ tool, name }) => tool?.name ?? name))
}

/** By key, the names of actions that gave different results to the same arguments. */
function findSuspects(
  entries: readonly CassetteEntry[],
  outside: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const actions = entries.filter(
    (entry) => entry.kind === 'action' && entry.isContainer !== true && !outside.has(entry.name),
  ) as CassetteAction[]
  const results = Map.groupBy(actions, keyOf)
  const differing = [...results].filter(([, calls]) => new Set(calls.map(outcomeOf)).size > 1)
  return new Map(differing.map(([key, [first]]) => [key, first!.name]))
}

function toRunAgain({ result: _, error: __, types: ___, ...rest }: CassetteAction): CassetteAction {
  return { ...rest, isContainer: true }
}

function keyOf({ name, arguments: given }: CassetteAction): string {
  return JSON.stringify([name, given])
}

/** Ids and times differ in every run. */
function outcomeOf({ result, error }: CassetteAction): string {
  return shapeOfText(JSON.stringify(isRecord(error) ? { error } : { result }))
}
