import type { AlignedRow, Divergence } from './align-sessions.ts'
import type { AlignedStep } from './align-trees.ts'
import { compareInputs, compareResults } from './compare-steps.ts'
import type { Comparison } from './comparison.ts'
import { isMinor, type Difference, type DifferenceKind } from './difference.ts'
import { stepResult } from '../session/step-input-output.ts'

type Options = { comparison: Comparison; hasPayloads: boolean }

/**
 * Lists the differences in the order in which they happened: the input of a step before the steps inside it, its
 * result after them. So a model's reply comes before the result of the action around it. Among parallel steps, the
 * earliest difference comes first.
 */
export function compareAligned(
  steps: readonly AlignedStep[],
  options: Options,
): { rows: AlignedRow[]; first: Divergence | null } {
  const walk: Walk = { ...options, rows: [], first: null, firstInput: null, isBeginning: true }
  visitAll(steps, { depth: 0, atMs: 0 }, walk)
  return { rows: walk.rows, first: (walk.first ?? walk.firstInput)?.divergence ?? null }
}

type Found = { divergence: Divergence; atMs: number }

type Walk = Options & {
  rows: AlignedRow[]
  first: Found | null
  firstInput: Found | null
  isBeginning: boolean
}

/** The depth, and the time in session `a`. */
type Place = { depth: number; atMs: number }

function visitAll(steps: readonly AlignedStep[], { depth, atMs }: Place, walk: Walk): void {
  const instead = findReplacements(steps)
  let nowMs = atMs
  for (const step of steps) {
    visit(step, { depth, atMs: nowMs }, walk, instead.get(step))
    nowMs = step.a?.endMs ?? nowMs
  }
}

function visit(step: AlignedStep, { depth, atMs }: Place, walk: Walk, instead?: Difference): void {
  const { a, b, isReordered } = step
  const row: AlignedRow = {
    depth,
    ...(a !== undefined && { a: a.step, aNumber: a.position + 1 }),
    ...(b !== undefined && { b: b.step, bNumber: b.position + 1 }),
    differences: [],
    ...(isReordered === true && { isReordered }),
  }
  const index = walk.rows.push(row) - 1
  const startMs = a?.startMs ?? atMs
  const isAlone = a === undefined || b === undefined
  const given = isAlone ? [instead ?? aloneDifference(step)] : compareInputs(a.step, b.step, walk)
  note(given, { row: index, atMs: startMs }, walk)
  visitAll(step.children, { depth: depth + 1, atMs: startMs }, walk)
  if (isAlone) walk.isBeginning &&= step.isOpened === true
  else {
    note(compareResults(a.step, b.step, walk), { row: index, atMs: a.endMs }, walk)
    if (stepResult(a.step, walk.hasPayloads) !== undefined) walk.isBeginning = false
  }
}

function note(differences: readonly Difference[], at: { row: number; atMs: number }, walk: Walk): void {
  walk.rows[at.row]!.differences.push(...differences)
  for (const difference of differences) {
    const found = { divergence: { ...difference, row: at.row }, atMs: at.atMs }
    if (!isMinor(difference)) walk.first = earlier(walk.first, found)
    else if (difference.kind === 'input') walk.firstInput = earlier(walk.firstInput, found)
  }
}

function earlier(known: Found | null, found: Found): Found {
  return known === null || found.atMs < known.atMs ? found : known
}

function aloneDifference({ a, b, isRepeat, isOpened }: AlignedStep): Difference {
  const isWrite = (a ?? b)?.isWrite === true
  if (isOpened === true) return { kind: 'nesting' }
  if (isRepeat === true) return { kind: 'repeat' }
  const kind: DifferenceKind =
    a === undefined ? (isWrite ? 'added-effect' : 'extra-step') : isWrite ? 'missing-effect' : 'missing-step'
  return { kind }
}

/** Where both sessions continue with different steps, the first of each replaces the other. */
function findReplacements(steps: readonly AlignedStep[]): Map<AlignedStep, Difference> {
  const replacements = new Map<AlignedStep, Difference>()
  for (let start = 0; start < steps.length; start += 1) {
    let end = start
    while (end < steps.length && isAlone(steps[end]!)) end += 1
    const alone = steps
      .slice(start, end)
      .filter(({ isRepeat, isOpened }) => isRepeat !== true && isOpened !== true)
    const [a, b] = [alone.find((step) => step.a !== undefined), alone.find((step) => step.b !== undefined)]
    if (a !== undefined && b !== undefined) {
      const difference: Difference = { kind: 'other-step', a: a.a!.step.name, b: b.b!.step.name }
      replacements.set(a, difference)
      replacements.set(b, difference)
    }
    start = Math.max(start, end - 1)
  }
  return replacements
}

function isAlone({ a, b }: AlignedStep): boolean {
  return a === undefined || b === undefined
}
