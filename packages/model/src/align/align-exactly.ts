/** Positions of two matching items. In a list of pairs both sides are ascending. */
export type Pair = [left: number, right: number]

/** How well two items match; `NEVER` when they cannot be the same. */
export type Scorer = (left: number, right: number) => number

export const NEVER = -1e6
const GAP_OPENED = -1.2
const GAP_GOES_ON = -0.3

type Table = { leftCount: number; rightCount: number; score: Scorer; mostCells: number }

/** The state that the best path to a cell came from: two bits each for paired, left alone, right alone. */
const PAIRED = 0
const LEFT_ALONE = 1
const RIGHT_ALONE = 2

/**
 * Needleman–Wunsch with affine gaps (Gotoh). Fills only a band around the diagonal when the whole table would be too
 * large.
 */
export function alignExactly(table: Table): Pair[] {
  const { leftCount, rightCount } = table
  const bandWidth = Math.min(rightCount + 1, Math.max(64, Math.floor(table.mostCells / (leftCount + 1))))
  const ways = new Uint8Array((leftCount + 1) * bandWidth)
  const startOf = (left: number) => bandStart(left, { leftCount, rightCount, bandWidth })
  const best = fillTable({ ...table, bandWidth, ways, startOf })
  return walkBack({ leftCount, rightCount, bandWidth, ways, startOf, state: best })
}

function bandStart(
  left: number,
  { leftCount, rightCount, bandWidth }: { leftCount: number; rightCount: number; bandWidth: number },
): number {
  const centre = leftCount === 0 ? 0 : Math.round((left * rightCount) / leftCount)
  return Math.max(0, Math.min(rightCount + 1 - bandWidth, centre - (bandWidth >> 1)))
}

type Band = { bandWidth: number; ways: Uint8Array; startOf: (left: number) => number }

type Row = { paired: Float64Array; leftAlone: Float64Array; rightAlone: Float64Array; start: number }

function makeRow(bandWidth: number): Row {
  const never = () => new Float64Array(bandWidth).fill(-Infinity)
  return { paired: never(), leftAlone: never(), rightAlone: never(), start: 0 }
}

/** Fills the table and returns the state in which the best path ends. */
function fillTable({ leftCount, rightCount, score, bandWidth, ways, startOf }: Table & Band): number {
  let [row, above] = [makeRow(bandWidth), makeRow(bandWidth)]
  for (let left = 0; left <= leftCount; left += 1) {
    ;[row, above] = [above, row]
    row.start = startOf(left)
    for (let column = 0; column < bandWidth; column += 1)
      ways[left * bandWidth + column] = fillCell({ left, right: row.start + column }, row, above, score)
  }
  const last = rightCount - row.start
  return bestOf(row.paired[last]!, row.leftAlone[last]!, row.rightAlone[last]!)
}

function fillCell(
  { left, right }: { left: number; right: number },
  row: Row,
  above: Row,
  score: Scorer,
): number {
  const column = right - row.start
  const up = right - above.start
  const [paired, fromPaired] = pairedCell({ left, right, up }, above, score)
  const [leftAlone, fromLeft] = left === 0 ? outside : gapCell(above, up, LEFT_ALONE)
  const [rightAlone, fromRight] = right === 0 ? outside : gapCell(row, column - 1, RIGHT_ALONE)
  row.paired[column] = left === 0 && right === 0 ? 0 : paired
  row.leftAlone[column] = leftAlone
  row.rightAlone[column] = rightAlone
  return fromPaired | (fromLeft << 2) | (fromRight << 4)
}

const outside: readonly [number, number] = [-Infinity, PAIRED]

function pairedCell(
  { left, right, up }: { left: number; right: number; up: number },
  above: Row,
  score: Scorer,
): readonly [number, number] {
  const diagonal = up - 1
  if (left === 0 || right === 0 || diagonal < 0 || diagonal >= above.paired.length) return outside
  const gain = score(left - 1, right - 1)
  if (gain <= NEVER) return outside
  const state = bestOf(above.paired[diagonal]!, above.leftAlone[diagonal]!, above.rightAlone[diagonal]!)
  return [valueOf(above, diagonal, state) + gain, state]
}

/** One more unmatched item: extends a gap or opens one. */
function gapCell(from: Row, column: number, gap: number): readonly [number, number] {
  if (column < 0 || column >= from.paired.length) return outside
  const cost = (state: number) => (state === gap ? GAP_GOES_ON : GAP_OPENED)
  const paired = from.paired[column]! + cost(PAIRED)
  const leftAlone = from.leftAlone[column]! + cost(LEFT_ALONE)
  const rightAlone = from.rightAlone[column]! + cost(RIGHT_ALONE)
  const state = bestOf(paired, leftAlone, rightAlone)
  return [state === PAIRED ? paired : state === LEFT_ALONE ? leftAlone : rightAlone, state]
}

function valueOf(row: Row, column: number, state: number): number {
  if (state === PAIRED) return row.paired[column]!
  return state === LEFT_ALONE ? row.leftAlone[column]! : row.rightAlone[column]!
}

/** Among equally good paths, the one whose gap comes last, so that equal items are paired as early as possible. */
function bestOf(paired: number, leftAlone: number, rightAlone: number): number {
  if (paired > leftAlone && paired > rightAlone) return PAIRED
  if (leftAlone === -Infinity && rightAlone === -Infinity) return PAIRED
  return leftAlone >= rightAlone ? LEFT_ALONE : RIGHT_ALONE
}

function walkBack({
  leftCount,
  rightCount,
  bandWidth,
  ways,
  startOf,
  state,
}: { leftCount: number; rightCount: number; state: number } & Band): Pair[] {
  const pairs: Pair[] = []
  let [left, right, at] = [leftCount, rightCount, state]
  while (left > 0 || right > 0) {
    const way = ways[left * bandWidth + right - startOf(left)]!
    if (at === PAIRED) {
      at = way & 3
      left -= 1
      right -= 1
      pairs.push([left, right])
    } else if (at === LEFT_ALONE) {
      at = (way >> 2) & 3
      left -= 1
    } else {
      at = (way >> 4) & 3
      right -= 1
    }
  }
  return pairs.toReversed()
}
