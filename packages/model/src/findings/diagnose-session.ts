import type { Session } from '../session/session.ts'
import { findBadArguments } from './bad-argument.ts'
import { findEmptyClaims } from './claim-without-act.ts'
import { findCuts } from './cut-short.ts'
import { findDivergence } from './divergence.ts'
import { findErrors } from './error.ts'
import { findPlausibleFailures } from './fail-plausible.ts'
import { rules, type Clue, type Findings, type RuleWeights } from './finding.ts'
import { identifyIssue, type IssueKey } from './identify-issue.ts'
import { findIgnoredErrors } from './ignored-error.ts'
import { findLoops } from './loop.ts'
import { findMisusedRecords } from './misused-record.ts'
import { findOutliers, type Usual } from './outlier.ts'
import { nodesOf, type Peers } from './peers.ts'
import { followBack, rankSuspects, type FollowedClue } from './rank-suspects.ts'
import { toTrajectory, type Trajectory } from './trajectory.ts'

/** What is known besides the session itself. */
export type DiagnosisContext = {
  /** A session that passed: of the same test, or with the same input. */
  sibling?: Session | undefined
  peers?: Peers | undefined
  usual?: Usual | undefined
  weights?: RuleWeights | undefined
}

export type Diagnosis = Findings & { issue: IssueKey | undefined; nodes: string[] }

/** Increased whenever the rules find something else in the same session, so that stored findings are computed again. */
export const DIAGNOSIS_VERSION = 3

/** Finds out what went wrong in a session that has ended, from evidence alone. */
export function diagnoseSession(session: Session, context: DiagnosisContext = {}): Findings {
  const { findings, suspects } = judgeSession(session, context)
  return { findings, suspects }
}

/** As `diagnoseSession`, with the issue that the session belongs to and what it did, for comparison with others. */
export function judgeSession(session: Session, context: DiagnosisContext = {}): Diagnosis {
  const turns = judgeInTurns(session, context)
  for (;;) {
    const { done, value } = turns.next()
    if (done === true) return value
  }
}

/** As `judgeSession`, for a program that has other things to do: it may pause after each detector. */
export function* judgeInTurns(session: Session, context: DiagnosisContext): Generator<void, Diagnosis> {
  const run = toTrajectory(session)
  yield
  const clues: Clue[] = []
  for (const detect of session.session.endState === 'running' ? [] : detectors) {
    clues.push(...detect(run, context))
    yield
  }
  const { main, ...found } = rankSuspects(followBack(clues), run, context.weights ?? rules)
  return { ...found, issue: identifyIssue(run, main), nodes: nodesOf(run) }
}

/** What all detectors found, each blamed on the step that it goes back to. */
export function findClues(run: Trajectory, context: DiagnosisContext): FollowedClue[] {
  return followBack(detectors.flatMap((detect) => detect(run, context)))
}

const detectors: readonly ((run: Trajectory, context: DiagnosisContext) => Clue[])[] = [
  findErrors,
  findIgnoredErrors,
  findBadArguments,
  findLoops,
  findPlausibleFailures,
  findEmptyClaims,
  findMisusedRecords,
  findCuts,
  findDivergence,
  (run, { usual }) => findOutliers(run, usual),
]
