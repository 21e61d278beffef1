import { isRecord } from '../json/attribute-value.ts'
import { argumentsOf } from './problem.ts'
import { stepName, type Step } from './step.ts'

/** The arguments of actions that were null: `["fetch_customer.customer_id"]`. */
export function nullArguments(steps: readonly Step[]): string[] {
  return steps
    .filter(({ kind }) => kind === 'action')
    .flatMap((step) => findNulls(argumentsOf(step)).map((path) => [stepName(step), ...path].join('.')))
}

const MAX_DEPTH = 20

function findNulls(value: unknown, depth = 0): string[][] {
  if (value === null) return [[]]
  if ((!isRecord(value) && !Array.isArray(value)) || depth > MAX_DEPTH) return []
  return Object.entries(value).flatMap(([key, item]) =>
    findNulls(item, depth + 1).map((path) => [key, ...path]),
  )
}
