import { hasFailed } from '../session/failure.ts'
import { argumentsOf } from '../session/problem.ts'
import { fisherExact } from '../statistics/compare-samples.ts'
import type { Tries } from '../statistics/statistics.ts'
import { isEmptyResult } from './empty-result.ts'
import { resultOf, type Trajectory, type Turn } from './trajectory.ts'

/** What other sessions of the same name did: the nodes of each, by outcome. */
export type Peers = { passed: readonly (readonly string[])[]; failed: readonly (readonly string[])[] }

/** What a session did, without order and arguments: "refund ok", "search empty", "send failed". */
export function nodesOf({ actions }: Pick<Trajectory, 'actions'>): string[] {
  return [...new Set(actions.map(nodeOf))]
}

function nodeOf(turn: Turn): string {
  const outcome = hasFailed(turn.step)
    ? 'failed'
    : isEmptyResult(resultOf(turn), argumentsOf(turn.step))
      ? 'empty'
      : 'ok'
  return `${turn.name} ${outcome}`
}

const FALSE_DISCOVERY_RATE = 0.05
const FEWEST_PEERS = 5

/** A node that goes with failure. `strength` is Ochiai's coefficient; `passed` and `failed` count the sessions that have it. */
export type UnusualNode = { turn: Turn; strength: number; passed: Tries; failed: Tries }

/** The nodes of a session that failed sessions have significantly more often: Fisher's test, Benjamini and Hochberg's correction. */
export function findUnusualNodes(run: Trajectory, { passed, failed }: Peers): UnusualNode[] {
  if (passed.length < FEWEST_PEERS || failed.length === 0) return []
  const first = new Map<string, Turn>()
  for (const turn of run.actions) if (!first.has(nodeOf(turn))) first.set(nodeOf(turn), turn)
  const inPassed = countSessions(passed)
  const inFailed = countSessions(failed)
  const tested = [...first].map(([node, turn]) => {
    const withNode = {
      passed: { passed: inPassed.get(node) ?? 0, total: passed.length },
      failed: { passed: inFailed.get(node) ?? 0, total: failed.length },
    }
    return { turn, ...withNode, chance: fisherExact(withNode.failed, withNode.passed) }
  })
  return significant(tested).map(({ turn, passed: good, failed: bad }) => ({
    turn,
    passed: good,
    failed: bad,
    strength: bad.passed / Math.sqrt(failed.length * (bad.passed + good.passed)),
  }))
}

function countSessions(sessions: readonly (readonly string[])[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const nodes of sessions)
    for (const node of new Set(nodes)) counts.set(node, (counts.get(node) ?? 0) + 1)
  return counts
}

/** Benjamini and Hochberg: all up to the last that is below its share of the rate. */
function significant<Test extends { chance: number }>(tests: readonly Test[]): Test[] {
  const sorted = tests.toSorted((one, other) => one.chance - other.chance)
  const last = sorted.findLastIndex(
    ({ chance }, index) => chance <= ((index + 1) / sorted.length) * FALSE_DISCOVERY_RATE,
  )
  return sorted.slice(0, last + 1)
}
