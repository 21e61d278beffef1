import { countOf, formatCost, stepTitle, visibleText, type Step } from '@playhead/model'

/** The step that a run can begin at: the given one, or the first model call or action inside or after it. */
export function findForkStep(steps: readonly Step[], stepId: string): number | undefined {
  const from = steps.findIndex(({ id }) => id === stepId)
  if (from < 0) return undefined
  const position = steps.findIndex((step, index) => index >= from && canFork(step))
  return position < 0 ? undefined : position
}

function canFork({ kind, isInferred }: Step): boolean {
  return (kind === 'llm' || kind === 'action') && isInferred !== true
}

/** What a run from a step takes from the tape, what it executes, and what that cost when it was recorded. */
export function describePlan(steps: readonly Step[], position: number): string[] {
  const before = steps.slice(0, position).filter(canFork).length
  const costs = steps.slice(position).filter(isCounted)
  const cost = costs.reduce((sum, step) => sum + step.cost!, 0)
  return [
    before === 0
      ? 'Nothing comes from the tape: this is the first step that can be answered.'
      : `${countOf(before, 'step')} before this one ${before === 1 ? 'comes' : 'come'} from the tape.`,
    'From here on the run is live.',
    ...describeStubs(steps, position),
    ...(costs.length === 0 ? [] : [`In the recording, this part cost ${formatCost(cost)}.`]),
  ]
}

/** An action that says nothing about its effect is treated as a write, unless it only holds other steps. */
function describeStubs(steps: readonly Step[], position: number): string[] {
  const parents = new Set(steps.map(({ parentId }) => parentId))
  const leaves = steps.filter(
    (step, index) => index > position && step.kind === 'action' && canFork(step) && !parents.has(step.id),
  )
  const namesOf = (effect: Step['effect']) => {
    const names = leaves.filter((step) => step.effect === effect).map((step) => visibleText(stepTitle(step)))
    return listOf([...new Set(names)])
  }
  const [writes, undeclared] = [namesOf('write'), namesOf(undefined)]
  return [
    `Actions that write are stubbed, unless your terminal allows them${writes === '' ? '' : `: ${writes}`}.`,
    ...(undeclared === '' ? [] : [`So are actions that don’t declare an effect: ${undeclared}.`]),
  ]
}

function isCounted({ cost, usageScope }: Step): boolean {
  return cost !== null && usageScope !== 'rollup' && usageScope !== 'duplicate'
}

const MAX_NAMES = 4

function listOf(names: readonly string[]): string {
  const more = names.length - MAX_NAMES
  return more > 0 ? `${names.slice(0, MAX_NAMES).join(', ')} and ${more} more` : names.join(', ')
}
