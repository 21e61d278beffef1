import { formatCost, formatCount } from '../format/format-number.ts'
import { formatDuration } from '../format/format-time.ts'
import { medianOf } from '../statistics/compare-samples.ts'
import { capitalize, evidenceAt, nameTurn, toBareTurn, toClue } from './clue.ts'
import type { Clue } from './finding.ts'
import type { Trajectory, Turn } from './trajectory.ts'

/** What sessions of the same name took: one value per session that ended, without this one. */
export type Usual = { durationMs: readonly number[]; cost: readonly number[]; stepCount: readonly number[] }

const FEWEST_SESSIONS = 20
const FAR = 8
const FEWEST_TIMES = 3
/** Turns a median absolute deviation into a standard deviation. */
const NORMAL = 1.4826

/** Finds figures far above what sessions of the same name take: a robust z of 8 and three times the median. */
export function findOutliers(run: Trajectory, usual: Usual | undefined): Clue[] {
  if (usual === undefined) return []
  const { durationMs, cost, stepCount } = run.session
  return [
    ...compare({
      field: 'cost',
      value: cost,
      others: usual.cost,
      format: formatCost,
      word: 'cost',
      turn: () => dearest(run),
    }),
    ...compare({
      field: 'durationMs',
      value: durationMs,
      others: usual.durationMs,
      format: formatDuration,
      word: 'took',
      turn: () => slowest(run),
    }),
    ...compare({
      field: 'stepCount',
      value: stepCount,
      others: usual.stepCount,
      format: (count) => `${formatCount(count)} steps`,
      word: 'took',
      turn: () => busiest(run),
    }),
  ]
}

type Compared = {
  field: 'cost' | 'durationMs' | 'stepCount'
  value: number | null
  others: readonly number[]
  format: (value: number) => string
  word: string
  turn: () => Turn | undefined
}

function compare({ field, value, others, format, word, turn }: Compared): Clue[] {
  if (value === null || others.length < FEWEST_SESSIONS) return []
  const median = medianOf(others)
  const spread = NORMAL * medianOf(others.map((other) => Math.abs(other - median)))
  // Sessions that always take the same have no spread; a twentieth of the median stands in for it.
  const distance = (value - median) / Math.max(spread, median / 20)
  if (!(distance >= FAR && value >= FEWEST_TIMES * median)) return []
  const blamed = turn()
  if (blamed === undefined) return []
  return [
    toClue(
      'outlier/far',
      blamed,
      Math.min(1, 0.5 + distance / (8 * FAR)),
      `The session ${word} ${format(value)}; ${formatCount(others.length)} others of this name took ${format(median)} in the middle. Most of it is ${nameTurn(blamed)}.`,
      [
        evidenceAt(
          blamed,
          field,
          `${capitalize(nameTurn(blamed))}: ${format(value)} against ${format(median)}`,
        ),
      ],
    ),
  ]
}

function dearest(run: Trajectory): Turn | undefined {
  return largest(run, ({ cost }) => cost ?? 0)
}

/** The longest step that no other step is inside of. */
function slowest(run: Trajectory): Turn | undefined {
  const parents = new Set(run.steps.map(({ parentId }) => parentId))
  return largest(run, ({ id, durationMs }) => (parents.has(id) ? 0 : (durationMs ?? 0)))
}

/** The first step of the name that occurs most often. */
function busiest({ turns }: Trajectory): Turn | undefined {
  const groups = [...Map.groupBy(turns, ({ role, name }) => `${role} ${name}`).values()]
  return groups.toSorted((one, other) => other.length - one.length)[0]?.[0]
}

function largest(
  { steps, turnOf }: Trajectory,
  measure: (step: Trajectory['steps'][number]) => number,
): Turn | undefined {
  let best: Trajectory['steps'][number] | undefined
  for (const step of steps) if (measure(step) > (best === undefined ? 0 : measure(best))) best = step
  return best === undefined ? undefined : (turnOf.get(best.id) ?? toBareTurn(best, steps))
}
