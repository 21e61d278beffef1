import { shapeOfValue } from '../align/fingerprint-session.ts'
import { argumentsOf } from '../session/problem.ts'
import { isEmptyResult } from './empty-result.ts'
import { capitalize, evidenceAt, nameTurn, showValue, toClue } from './clue.ts'
import type { Clue } from './finding.ts'
import { callText, resultOf, type Trajectory, type Turn } from './trajectory.ts'

const FEWEST_REPEATS = 3
const FEWEST_ALTERNATIONS = 3

/** Finds calls and messages that repeat without anything new coming back. */
export function findLoops(run: Trajectory): Clue[] {
  const repeated = findRepeatedCalls(run)
  return [...repeated, ...(repeated.length > 0 ? [] : findAlternation(run)), ...findRepeatedMessages(run)]
}

/** The same call with the same result, three times or more. Polling that ended with another result is none. */
function findRepeatedCalls({ actions }: Trajectory): Clue[] {
  const calls = Map.groupBy(actions, callKey)
  return [...calls.values()].flatMap((same) => {
    if (same.length < FEWEST_REPEATS) return []
    const result = resultKey(same.at(-1)!)
    const stuck = same.filter((turn) => resultKey(turn) === result)
    if (stuck.length < FEWEST_REPEATS || !isStuckAtEnd(stuck, same)) return []
    return [toLoop(stuck)]
  })
}

function callKey(turn: Turn): string {
  return `${turn.name} ${shapeOfValue(argumentsOf(turn.step)) || callText(turn)}`
}

function resultKey({ step, text }: Turn): string {
  return step.error === undefined ? text : `${step.error.type} ${step.error.message}`
}

/** The last calls all gave the same. */
function isStuckAtEnd(stuck: readonly Turn[], same: readonly Turn[]): boolean {
  const last = same.slice(-FEWEST_REPEATS)
  return last.every((turn) => stuck.includes(turn))
}

function toLoop(stuck: readonly Turn[]): Clue {
  const [first, second] = stuck as [Turn, Turn]
  const result = resultOf(first)
  const what =
    first.step.error === undefined
      ? isEmptyResult(result, argumentsOf(first.step))
        ? 'the same empty result'
        : 'the same result'
      : 'the same error'
  // The first call may have been right. The second one knew its result.
  const blamed = second.author ?? second
  return toClue(
    'loop/same-result',
    blamed,
    1,
    `${first.name} was called ${stuck.length} times with the same arguments and returned ${what}; it began at step ${first.position + 1}.`,
    stuck
      .slice(0, 5)
      .map((turn) =>
        evidenceAt(turn, 'output', `${callText(turn)} → ${showValue(resultOf(turn) ?? turn.text)}`),
      ),
  )
}

/** Two calls in turn, A B A B A B, each with the results it had before. */
function findAlternation({ actions }: Trajectory): Clue[] {
  const keys = actions.map((turn) => `${callKey(turn)} ${resultKey(turn)}`)
  let length = 0
  for (let index = 2; index <= keys.length; index += 1) {
    const continues =
      index < keys.length && keys[index] === keys[index - 2] && keys[index] !== keys[index - 1]
    if (continues) {
      length += 1
      continue
    }
    if (length + 2 >= 2 * FEWEST_ALTERNATIONS)
      return [toAlternation(actions.slice(index - length - 2, index))]
    length = 0
  }
  return []
}

function toAlternation(turns: readonly Turn[]): Clue {
  const [first, second, third] = turns as [Turn, Turn, Turn]
  return toClue(
    'loop/alternating',
    third.author ?? third,
    1,
    `${first.name} and ${second.name} were called in turn, ${turns.length} times with the same results; it began at step ${first.position + 1}.`,
    turns.slice(0, 4).map((turn) => evidenceAt(turn, 'output', `${nameTurn(turn)}: ${turn.text}`)),
  )
}

const MIN_WORDS = 12
const SAME_SHARE = 0.85
/** How many messages back one is compared with. */
const LOOK_BACK = 4

/** The same message three times in a row or nearly so, from the same agent. */
function findRepeatedMessages({ decisions }: Trajectory): Clue[] {
  const recent: { turn: Turn; words: ReadonlySet<string>; first: Turn; times: number }[] = []
  for (const turn of decisions) {
    if (turn.calls.length > 0) continue
    const words = wordsOfText(turn.text)
    if (words.size < MIN_WORDS) continue
    const like = recent.find(
      (other) => other.turn.name === turn.name && overlap(other.words, words) >= SAME_SHARE,
    )
    const times = (like?.times ?? 0) + 1
    if (times >= FEWEST_REPEATS) return [toRepetition(like!.first, turn, times)]
    recent.unshift({ turn, words, first: like?.first ?? turn, times })
    if (recent.length > LOOK_BACK) recent.pop()
  }
  return []
}

function toRepetition(first: Turn, last: Turn, times: number): Clue {
  return toClue(
    'loop/same-words',
    first,
    1,
    `${capitalize(nameTurn(first))} said nearly the same ${times} times, up to step ${last.position + 1}.`,
    [evidenceAt(first, 'output', first.text), evidenceAt(last, 'output', last.text)],
  )
}

function wordsOfText(text: string): Set<string> {
  return new Set(
    text
      .slice(0, 4000)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [],
  )
}

/** Jaccard's index of two sets of words. */
function overlap(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const [small, large] = one.size < other.size ? [one, other] : [other, one]
  if (small.size / large.size < SAME_SHARE) return 0
  let shared = 0
  for (const word of small) if (large.has(word)) shared += 1
  return shared / (one.size + other.size - shared)
}
