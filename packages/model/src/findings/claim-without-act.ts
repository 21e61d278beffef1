import { hasFailed } from '../session/failure.ts'
import { wordsOf } from '../session/problem.ts'
import { capitalize, evidenceAt, nameTurn, quoteMatch, toClue } from './clue.ts'
import type { Clue } from './finding.ts'
import { assumption, pretended } from './phrases.ts'
import type { Trajectory, Turn } from './trajectory.ts'

/** Finds statements that something was done, without an action that did it. */
export function findEmptyClaims(run: Trajectory): Clue[] {
  return [...findUndone(run), ...(run.hasFailed ? findUnfounded(run) : [])]
}

/** What agents claim to have done, by the stem that a tool for it has in its name. */
const stems =
  'refund cancel book reserv creat updat delet remov send sent email transfer exchang modif return order pay charg upgrad downgrad schedul submit publish assign approv reset unsubscrib subscrib renew ship dispatch issu notif escalat close'.split(
    ' ',
  )
const claim =
  /\b(?:i(?:'ve| have)|we(?:'ve| have)|has been|have been|was|were|is now|successfully) (?:now |just |also |already |successfully )*([a-z]{3,16}(?:ed|nt|id|ok))\b/gi
/** "If it was cancelled", "once I have sent": no claim. */
const condition =
  /\b(?:if|once|when|whether|until|after|before|unless|would|should|could|might|may)\b[^.!?\n]{0,60}$/i

function findUndone({ decisions, actions }: Trajectory): Clue[] {
  const done = actions.filter(({ step }) => !hasFailed(step))
  return decisions.flatMap((turn) => {
    if (turn.calls.length > 0 || turn.text === '') return []
    const offered = turn.step.toolDefinitions ?? []
    for (const match of turn.text.matchAll(claim)) {
      const stem = stems.find((start) => match[1]!.toLowerCase().startsWith(start))
      if (stem === undefined || condition.test(turn.text.slice(0, match.index))) continue
      const tool = offered.find(({ name }) => isFor(name, stem))
      // Without a tool for it, the words may mean something else: "I have updated the text below".
      if (tool === undefined || isDone(stem, turn, done) || isTold(stem, turn)) continue
      return [toUndone(turn, match[0], tool.name, actions)]
    }
    return []
  })
}

function isFor(name: string, stem: string): boolean {
  return wordsOf(name).some((word) => word.startsWith(stem))
}

/** An action with the word in its name or in its arguments, before the claim. */
function isDone(stem: string, { position }: Turn, done: readonly Turn[]): boolean {
  return done.some(
    (action) =>
      action.position < position && (isFor(action.name, stem) || action.text.toLowerCase().includes(stem)),
  )
}

/** The model was told so: by the user, or by an earlier part of the conversation. */
function isTold(stem: string, { step }: Turn): boolean {
  return (step.messages ?? []).some(
    ({ role, isOutput, parts }) =>
      isOutput !== true &&
      role !== 'system' &&
      role !== 'user' &&
      role !== 'developer' &&
      parts.some(
        (part) =>
          part.type === 'tool-result' &&
          JSON.stringify(part.result ?? '')
            .toLowerCase()
            .includes(stem),
      ),
  )
}

function toUndone(turn: Turn, words: string, tool: string, actions: readonly Turn[]): Clue {
  const failed = actions.find(
    ({ name, step, position }) => name === tool && position < turn.position && hasFailed(step),
  )
  const why = failed === undefined ? `${tool} was never called` : `${nameTurn(failed)} failed`
  return toClue(
    'claim-without-act/undone',
    turn,
    1,
    `${capitalize(nameTurn(turn))} says "${words}", but ${why}.`,
    [evidenceAt(turn, 'output', quoteMatch(turn.text, new RegExp(words, 'i')))],
  )
}

/** Turns that say that they looked at something, or that work with assumptions. The first one counts most. */
function findUnfounded({ decisions, acts }: Trajectory): Clue[] {
  const acting = new Set(acts)
  const clues: Clue[] = []
  const seen = { pretended: 0, assumption: 0 }
  for (const turn of decisions) {
    const isAct = acting.has(turn)
    // The first turn often only repeats the task.
    if (turn === decisions[0] && !isAct) continue
    const code = turn.actions.map(({ step }) => JSON.stringify(step.tool?.arguments ?? '')).join(' ')
    if (assumption.test(turn.text) || assumption.test(code)) {
      const text = assumption.test(turn.text) ? turn.text : code
      clues.push(
        toUnfounded('assumption', turn, seen.assumption, `${nameTurn(turn)} works with an assumption`, text),
      )
      seen.assumption += 1
    }
    if (!isAct && pretended.test(turn.text)) {
      const words = `${nameTurn(turn)} says that it looked, but called nothing`
      clues.push(toUnfounded('pretended', turn, seen.pretended, words, turn.text))
      seen.pretended += 1
    }
  }
  return clues
}

function toUnfounded(
  rule: 'assumption' | 'pretended',
  turn: Turn,
  before: number,
  words: string,
  text: string,
): Clue {
  const quote = quoteMatch(text, rule === 'assumption' ? assumption : pretended)
  return toClue(`claim-without-act/${rule}`, turn, before === 0 ? 1 : 0.5, `${capitalize(words)}: ${quote}`, [
    evidenceAt(turn, 'output', quote),
  ])
}
