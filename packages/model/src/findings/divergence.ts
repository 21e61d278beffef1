import { alignSessions, isDivergent, type AlignedRow } from '../align/align-sessions.ts'
import { describeDifference } from '../align/describe-divergence.ts'
import { isMinor, type Difference } from '../align/difference.ts'
import { shortSessionId, type Session } from '../session/session.ts'
import { capitalize, evidenceAt, nameTurn, quoteMatch, toBareTurn, toClue } from './clue.ts'
import type { Clue, FindingEvidence } from './finding.ts'
import { objection } from './phrases.ts'
import { findUnusualNodes, type Peers } from './peers.ts'
import {
  callText,
  countWords,
  findTask,
  isWrite,
  userMessagesOf,
  type Trajectory,
  type Turn,
} from './trajectory.ts'

/** Finds where a failed session left the way that passing ones take. */
export function findDivergence(
  run: Trajectory,
  { sibling, peers }: { sibling?: Session | undefined; peers?: Peers | undefined },
): Clue[] {
  if (!run.hasFailed) return []
  const users = userTurns(run)
  return [
    ...(sibling === undefined ? [] : findFirstDifference(run, sibling)),
    ...(peers === undefined ? [] : findUnusual(run, peers)),
    ...findObjections(run, users),
    ...findFirstActs(run, users.length >= LONG_CONVERSATION),
  ]
}

/** Aligning two long sessions takes longer than everything else together. */
const MOST_ALIGNED = 2_000

/** The first write that differs from the session that passed; without one, the first step that differs. */
function findFirstDifference(run: Trajectory, sibling: Session): Clue[] {
  if (run.steps.length > MOST_ALIGNED || sibling.steps.length > MOST_ALIGNED) return []
  const { rows, effects, divergence } = alignSessions(sibling, {
    session: run.session,
    steps: [...run.steps],
  })
  const effect = effects[0]
  const index = effect?.row ?? divergence?.row
  const row = index === undefined ? undefined : rows[index]
  if (row === undefined || (effect === undefined && !isDivergent(row))) return []
  const turn = turnAt(rows, index!, run)
  if (turn === undefined) return []
  const difference = effect?.differences[0] ?? row.differences.find((candidate) => !isMinor(candidate))
  const what = difference === undefined ? '' : describeDifference(difference, row)
  const rule = effect === undefined ? 'divergence/read' : 'divergence/effect'
  const blamed = turn.author ?? turn
  return [
    toClue(
      rule,
      blamed,
      1,
      `${capitalize(nameTurn(turn))}${what}: the first ${effect === undefined ? 'step' : 'change'} that differs from ${shortSessionId(sibling.session.id)}, which passed.`,
      [evidenceAt(turn, placeOf(turn, difference), `${nameTurn(turn)}${what}`)],
    ),
  ]
}

/** Where the difference stands in the step. */
function placeOf({ role }: Turn, difference: Difference | undefined): string {
  if (role !== 'action' || difference?.kind === 'result') return 'output'
  return difference?.kind === 'argument' && difference.path !== undefined
    ? `arguments.${difference.path}`
    : 'arguments'
}

/** The turn at a row, or where it would have been. */
function turnAt(rows: readonly AlignedRow[], index: number, run: Trajectory): Turn | undefined {
  for (let at = index; at >= 0; at -= 1) {
    const step = rows[at]!.b
    if (step !== undefined) return run.turnOf.get(step.id) ?? toBareTurn(step, run.steps)
  }
  return run.turns[0]
}

/** Calls and outcomes that failed sessions of the same name have far more often than those that passed. */
function findUnusual(run: Trajectory, peers: Peers): Clue[] {
  return findUnusualNodes(run, peers).map(({ turn, passed, failed, strength }) =>
    toClue(
      'divergence/unusual',
      turn.author ?? turn,
      strength,
      `${capitalize(nameTurn(turn))}: ${failed.passed} of ${failed.total} failed sessions of this name have this, and ${passed.passed} of ${passed.total} that passed.`,
      [whatItDid(turn)],
    ),
  )
}

const MOST_OBJECTIONS = 5

/** The user objected to what had just been done. */
function findObjections(run: Trajectory, users: readonly UserTurn[]): Clue[] {
  const writes = run.actions.filter((action) => isWrite(action))
  if (writes.length === 0) return []
  const clues: Clue[] = []
  for (const { position, text, turn } of users) {
    if (clues.length === MOST_OBJECTIONS) break
    if (!objection.test(text)) continue
    const last = writes.findLast((write) => write.position < position)
    if (last === undefined) continue
    clues.push(
      toClue(
        'divergence/objected',
        last.author ?? last,
        clues.length === 0 ? 1 : 0.5,
        `The user objected to ${nameTurn(last)}: "${quoteMatch(text, objection)}"`,
        [
          evidenceAt(last, 'arguments', nameTurn(last)),
          evidenceAt(turn, 'input', quoteMatch(text, objection)),
        ],
      ),
    )
  }
  return clues
}

type UserTurn = { position: number; text: string; turn: Turn }

/** What the user said, in order: as turns of their own, or first seen in the messages of a model call. */
function userTurns({ turns, decisions }: Trajectory): UserTurn[] {
  const own = turns.filter(({ role }) => role === 'user')
  // In a team, the agents are each other's users.
  const isTeam = decisions.some(({ name }) => name !== decisions[0]?.name)
  if (own.length > 0 || isTeam) return own.map((turn) => ({ position: turn.position, text: turn.text, turn }))
  const seen = new Set<string>()
  return turns.flatMap((turn) =>
    turn.role !== 'decision'
      ? []
      : userMessagesOf(turn).flatMap((text) => {
          if (seen.has(text)) return []
          seen.add(text)
          return [{ position: turn.position, text, turn }]
        }),
  )
}

/** Up to this many acts, the last one gave the answer; in longer sessions the first one set the direction. */
const FEW_ACTS = 4
const MOST_ACTS = 6
const LONG_CONVERSATION = 5

/** Without better evidence: the first steps that changed something or looked something up, and the last one before the answer. */
function findFirstActs(run: Trajectory, isConversation: boolean): Clue[] {
  const { acts, decisions } = run
  const task = findTask(run)
  const writing = acts.filter(({ actions }) => actions.some((action) => isWrite(action)))
  const isReply = (turn: Turn) => turn !== task && countWords(turn.text) >= FEWEST_WORDS
  const replies = acts.length > 0 ? [] : decisions.filter(isReply)
  // In a conversation that changes nothing, what was looked up last is what the user did not want.
  const reads = isConversation ? acts.toReversed() : acts
  const [turns, word] =
    writing.length > 0 ? [writing, 'change'] : acts.length > 0 ? [reads, 'act'] : [replies, 'answer']
  const clues = turns
    .slice(0, MOST_ACTS)
    .map((turn, index) =>
      toClue(
        'divergence/first-act',
        turn,
        index === 0 ? 1 : 0.5 / (index + 1),
        index === 0
          ? `${capitalize(nameTurn(turn))} is the ${turns === reads && reads !== acts ? 'last' : 'first'} ${word} of the session: start here.`
          : `${capitalize(nameTurn(turn))} acted too${describeCalls(turn)}.`,
        [whatItDid(turn)],
      ),
    )
  const last = turns.at(-1)
  if (last !== undefined && last !== turns[0] && turns.length <= FEW_ACTS && run.isConcluded)
    clues.push(
      toClue(
        'divergence/last-act',
        last,
        1,
        `The answer rests on ${nameTurn(last)}, the last ${word} before it.`,
        [whatItDid(last)],
      ),
    )
  return clues
}

/** The call that a turn made, otherwise what it said or returned. */
function whatItDid(turn: Turn): FindingEvidence {
  const action = turn.role === 'action' ? turn : turn.actions[0]
  if (action !== undefined) return evidenceAt(action, 'arguments', callText(action) || action.name)
  return evidenceAt(turn, 'output', turn.text || JSON.stringify(turn.calls))
}

const FEWEST_WORDS = 20

function describeCalls({ actions }: Turn): string {
  const names = [...new Set(actions.map(({ name }) => name))]
  return names.length === 0 ? '' : `: it called ${names.slice(0, 3).join(', ')}`
}
