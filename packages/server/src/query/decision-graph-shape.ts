import { wilson, type EndState, type GraphFailure, type StepKind } from '@playhead/model'

/** What the store has counted of one way. */
export type VariantRow = Record<EndState, number> & {
  path: string[]
  sessions: number
  total_cost: number | null
  priced: number
  passed_examples: string[]
  failed_examples: string[]
  example: string
}

export type StepFigures = {
  key: string
  kind: StepKind
  name: string
  is_write: number
  times: number
  sessions: number
  errors: number
  p90_ms: number | null
}

/** Failures among the sessions that ended one way or the other. */
export function failureOf(failed: number, passed: number): GraphFailure {
  const ended = failed + passed
  return { failed, ended, rate: ended === 0 ? null : failed / ended, interval: wilson(failed, ended) }
}
