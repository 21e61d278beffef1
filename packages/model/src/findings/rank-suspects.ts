import {
  kindOf,
  type Clue,
  type Finding,
  type Findings,
  type Rule,
  type RuleWeights,
  type Suspect,
} from './finding.ts'
import type { Trajectory } from './trajectory.ts'

const MOST_SUSPECTS = 3
/** What a finding must weigh to make a step a suspect in a session that does not say that it failed. */
const LEAST_ALARM = 0.5
/** What a finding must weigh to be listed at all. */
const LEAST_WEIGHT = 0.05

/** A finding with what it adds to the score of its step. */
type Weighed = { clue: FollowedClue; weight: number; score: number }

/** `isMoved`: the step is blamed because another clue explains the error. */
export type FollowedClue = Clue & { isMoved?: boolean }

/** What was found, and the clue that tells one failure from another. */
export type Ranking = Findings & { main: FollowedClue | undefined }

/** Weighs clues and ranks the steps that they blame: up to three, the most likely first. */
export function rankSuspects(clues: readonly FollowedClue[], run: Trajectory, weights: RuleWeights): Ranking {
  const isOwn = (clue: Clue) => !isCompared(clue) && weights[clue.rule].alarm * clue.strength >= LEAST_ALARM
  // What is wrong in itself explains more than the first read that differs from another session.
  const hasOwn = clues.some(isOwn)
  const weighed = clues
    .filter(({ rule }) => rule !== 'divergence/read' || !hasOwn)
    .map((clue) => weigh(clue, run, weights))
    .filter(({ weight }) => weight >= LEAST_WEIGHT)
    .sort((one, other) => other.weight - one.weight)
  const suspects = toSuspects(weighed, run)
  const [first] = cluesOf(suspects, weighed)
  // The same failure must stay the same issue, whichever other sessions were there to compare it with.
  const own = weighed.filter(({ clue }) => !isCompared(clue))
  const alone = cluesOf(toSuspects(own, run), own)
  const main = first === undefined || !isCompared(first) ? (alone[0] ?? first) : (alone.find(isOwn) ?? first)
  return { findings: weighed.map(toFinding), suspects, main }
}

/** The clues that name the suspects, in their order. */
function cluesOf(suspects: readonly Suspect[], weighed: readonly Weighed[]): FollowedClue[] {
  return suspects.flatMap(({ findings }) => findings.map((index) => weighed[index]!.clue))
}

function isCompared({ rule }: Clue): boolean {
  return rule === 'outlier/far' || rule.startsWith('divergence/')
}

/** Rules that explain why another step failed. */
const causes: ReadonlySet<Rule> = new Set([
  'bad-argument/empty',
  'bad-argument/placeholder',
  'bad-argument/invented',
  'bad-argument/schema',
  'error/blocked-later',
])
const MOST_HOPS = 20

/** Moves the blame for an error to where it came from: from the step that failed back to the step that explains it. */
export function followBack(clues: readonly Clue[]): FollowedClue[] {
  const causeOf = new Map<string, string>()
  for (const { rule, shownAt, stepId, strength } of clues)
    if (causes.has(rule) && shownAt !== undefined && strength >= 0.5 && !causeOf.has(shownAt))
      causeOf.set(shownAt, stepId)
  return clues.map((clue) => {
    if (!clue.rule.startsWith('error/') || clue.rule === 'error/blocked-later') return clue
    let stepId = clue.shownAt ?? clue.stepId
    let hops = 0
    for (let next = causeOf.get(stepId); next !== undefined && hops < MOST_HOPS; next = causeOf.get(stepId)) {
      stepId = next
      hops += 1
    }
    return hops === 0 ? clue : { ...clue, stepId, isMoved: true }
  })
}

/** A failed session is blamed on whatever explains it best; a session that passed needs a finding that stands for itself. */
function weigh(clue: FollowedClue, { hasFailed }: Trajectory, weights: RuleWeights): Weighed {
  const { blame, alarm } = weights[clue.rule]
  const score = (hasFailed ? blame : -Math.log(1 - alarm)) * clue.strength
  const weight = hasFailed ? 1 - Math.exp(-score) : alarm * clue.strength
  return { clue, weight: Math.round(weight * 1000) / 1000, score }
}

function toFinding({ clue, weight }: Weighed): Finding {
  const { rule, stepId, sentence, evidence } = clue
  return { kind: kindOf(rule), stepId, weight, sentence, evidence }
}

function toSuspects(weighed: readonly Weighed[], run: Trajectory): Suspect[] {
  const positions = new Map(run.steps.map(({ id }, position) => [id, position]))
  const byStep = Map.groupBy(
    weighed.map((found, index) => ({ ...found, index })),
    ({ clue }) => clue.stepId,
  )
  return [...byStep]
    .filter(([, found]) => run.hasFailed || found[0]!.weight >= LEAST_ALARM)
    .map(([stepId, found]) => ({
      stepId,
      found,
      score: scoreOf(found),
      position: positions.get(stepId) ?? 0,
    }))
    .sort((one, other) => other.score - one.score || one.position - other.position)
    .slice(0, MOST_SUSPECTS)
    .map(({ stepId, found }) => {
      // What explains the error says more than the error.
      const inOrder = found.toSorted(
        (one, other) => Number(one.clue.isMoved ?? false) - Number(other.clue.isMoved ?? false),
      )
      return {
        stepId,
        agent: agentOf(stepId, run),
        sentence: inOrder[0]!.clue.sentence,
        findings: inOrder.map(({ index }) => index),
      }
    })
}

/** Different rules add up as log-odds; the same rule twice says nothing new. */
function scoreOf(found: readonly Weighed[]): number {
  const strongest = new Map<string, number>()
  for (const { clue, score } of found)
    strongest.set(clue.rule, Math.max(strongest.get(clue.rule) ?? 0, score))
  return [...strongest.values()].reduce((sum, score) => sum + score, 0)
}

/** The agent of a step: its own, that of whoever called it, or the agent that it runs inside of. */
function agentOf(stepId: string, { turnOf, steps }: Trajectory): string | null {
  const byId = new Map(steps.map((step) => [step.id, step]))
  const turn = turnOf.get(stepId)
  for (const start of [byId.get(stepId), turn?.author?.step]) {
    for (let step = start, hops = 0; step !== undefined && hops < MOST_HOPS; hops += 1) {
      if (step.agent !== undefined) return step.agent
      step = byId.get(step.parentId ?? '')
    }
  }
  return null
}
