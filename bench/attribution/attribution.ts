import { wilson } from '@playhead/model'
import { findClues } from '../../packages/model/src/findings/diagnose-session.ts'
import { rules, type RuleWeights } from '../../packages/model/src/findings/finding.ts'
import { nodesOf, type Peers } from '../../packages/model/src/findings/peers.ts'
import { rankSuspects } from '../../packages/model/src/findings/rank-suspects.ts'
import { toTrajectory, type Trajectory } from '../../packages/model/src/findings/trajectory.ts'
import { describeMachine } from '../harness/machine.ts'
import type { Options } from '../harness/options.ts'
import type { Progress } from '../harness/progress.ts'
import type { Figure, Report } from '../harness/report.ts'
import { knownSets, type MetricName } from './known-sets.ts'
import { readLabelledRuns, type LabelledRun } from '../harness/labelled-runs.ts'
import { tuneWeights, type Candidate, type Example } from './tune-weights.ts'

/** A labelled run with everything that the rules found in it. */
type Case = {
  run: LabelledRun
  trajectory: Trajectory
  clues: ReturnType<typeof findClues>
  example: Example
}

/**
 * How often the first suspect is the step that people blame, on runs that others published with labels. The weights of the
 * rules are tuned on all other sets, without runs that got the same request.
 */
export async function runAttributionSuite(options: Options, progress: Progress): Promise<Report> {
  const machine = describeMachine()
  progress.show('reading the runs')
  const cases = toCases(readLabelledRuns(options.data!))
  const sets = [...Map.groupBy(cases, ({ run }) => run.set)]
  const figures: Figure[] = []
  for (const [set, tested] of sets) {
    progress.show(`tuning without ${set}`)
    figures.push(...measureSet(set, tested, tuneWeights(trainingFor(set, tested, cases)).weights))
    await new Promise(setImmediate)
  }
  return { suite: 'attribution', machine, figures }
}

function toCases(runs: readonly LabelledRun[]): Case[] {
  const trajectories = new Map(runs.map((run) => [run, toTrajectory(run.session)]))
  const peersOf = new Map(
    [...Map.groupBy(runs, ({ set }) => set)].map(([set, some]): [string, Peers] => {
      const nodes = (hasPassed: boolean) =>
        some.filter((run) => run.hasPassed === hasPassed).map((run) => nodesOf(trajectories.get(run)!))
      return [set, { passed: nodes(true), failed: nodes(false) }]
    }),
  )
  return runs.flatMap((run) => {
    if (run.label === undefined) return []
    const trajectory = trajectories.get(run)!
    const clues = findClues(trajectory, { peers: peersOf.get(run.set) })
    return [{ run, trajectory, clues, example: toExample(run, clues) }]
  })
}

function toExample({ set, label, stepOf }: LabelledRun, clues: Case['clues']): Example {
  const candidates = [...Map.groupBy(clues, ({ stepId }) => stepId)].map(([stepId, found]): Candidate => {
    const strengths: Candidate['strengths'] = {}
    for (const { rule, strength } of found) strengths[rule] = Math.max(strengths[rule] ?? 0, strength)
    return { stepId, strengths }
  })
  return { set, candidates, label: candidates.findIndex(({ stepId }) => stepOf.get(stepId) === label?.step) }
}

/** Examples of other sets. Some sets are the same runs with other labels, so equal requests are left out. */
function trainingFor(set: string, tested: readonly Case[], cases: readonly Case[]): Example[] {
  const seen = new Set(tested.map(requestOf))
  return cases.flatMap((candidate) => {
    if (candidate.run.set === set || seen.has(requestOf(candidate))) return []
    seen.add(requestOf(candidate))
    return [candidate.example]
  })
}

function requestOf({ trajectory }: Case): string {
  return trajectory.request.trim().slice(0, 200)
}

const metrics: Record<MetricName, string> = {
  exact: 'exact step',
  within1: 'within 1 step',
  within3: 'within 3 steps',
  top3: 'among the three suspects',
  agent: 'agent',
}

function measureSet(set: string, tested: readonly Case[], weights: RuleWeights): Figure[] {
  const known = knownSets[set]
  const tuned = tested.map((one) => namesOf(one, weights))
  const shipped = tested.map((one) => namesOf(one, rules))
  return (Object.keys(metrics) as MetricName[]).map((metric) => {
    const hits = (named: readonly number[][]) =>
      tested.filter(({ run }, index) => isHit(metric, named[index]!, run)).length
    const hit = hits(tuned)
    const { low, high } = wilson(hit, tested.length)
    const target = known?.targets[metric]
    const notes = [
      `${hit} of ${tested.length}, 95%: ${percent(low)} to ${percent(high)}`,
      `random ${percent(randomShare(metric, tested))}`,
      `best constant ${percent(bestConstant(metric, tested))}`,
      `with the shipped weights ${percent(hits(shipped) / tested.length)}`,
      ...(metric === 'exact' && known !== undefined ? describeExact(known.published, tested, tuned) : []),
    ]
    return {
      what: `${known?.name ?? set}: ${metrics[metric]}`,
      figure: Math.round((1000 * hit) / tested.length) / 10,
      unit: '%',
      ...(target !== undefined && { target }),
      note: notes.join('; '),
    }
  })
}

/** The rules were written after reading runs whose trace id starts with an even digit; nobody read the others. */
function describeExact(published: string, tested: readonly Case[], named: readonly number[][]): string[] {
  const unread = tested
    .map(({ run }, index) => ({ run, index }))
    .filter(({ run }) => parseInt(run.traceId[0]!, 16) % 2 === 1)
  const hit = unread.filter(({ run, index }) => isHit('exact', named[index]!, run)).length
  return [
    `${hit} of ${unread.length} in the half that was not read while the rules were written`,
    `published, with a model: ${published}`,
  ]
}

/** The steps of the suspects, by the numbers of the data. */
function namesOf({ run, trajectory, clues }: Case, weights: RuleWeights): number[] {
  return rankSuspects(clues, trajectory, weights).suspects.map(({ stepId }) => run.stepOf.get(stepId) ?? -1)
}

function isHit(metric: MetricName, named: readonly number[], { label, agents }: LabelledRun): boolean {
  const [first] = named
  if (first === undefined || label === undefined) return false
  const distance = Math.abs(first - label.step)
  switch (metric) {
    case 'exact':
      return distance === 0
    case 'within1':
      return distance <= 1
    case 'within3':
      return distance <= 3
    case 'top3':
      return named.includes(label.step)
    case 'agent':
      return agents[first] === label.agent
  }
}

/** What naming a step of the run at random reaches; for three suspects, three different ones. */
function randomShare(metric: MetricName, tested: readonly Case[]): number {
  const shares = tested.map(({ run }) => {
    const steps = run.agents.map((_, step) => step)
    const hits = steps.filter((step) => isHit(metric, [step], run)).length
    return Math.min(1, (metric === 'top3' ? 3 * hits : hits) / Math.max(1, steps.length))
  })
  return shares.reduce((sum, share) => sum + share, 0) / shares.length
}

const MOST_CONSTANT_STEPS = 200

/** The best that naming the same step in every run reaches, chosen with the labels known; for three, the best three in a row of choice. */
function bestConstant(metric: MetricName, tested: readonly Case[]): number {
  const reach = (named: readonly number[]) => tested.filter(({ run }) => isHit(metric, named, run)).length
  const steps = Array.from({ length: MOST_CONSTANT_STEPS }, (_, step) => step)
  let best: number[] = []
  for (let place = 0; place < (metric === 'top3' ? 3 : 1); place += 1) {
    const next = steps.toSorted((one, other) => reach([...best, other]) - reach([...best, one]))[0]!
    best = [...best, next]
  }
  return reach(best) / tested.length
}

function percent(share: number): string {
  return (100 * share).toFixed(1)
}
