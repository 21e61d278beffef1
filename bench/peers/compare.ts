import type { Comparison } from '../harness/report.ts'
import type { None } from './contender.ts'

/** The measurements of a contender, by their name in the table. */
export type Measures = Record<string, { figure: number; unit: string } | None>

/** The measurements of a contender, or the reason why there are none. */
export type Outcome = { name: string; acknowledgement: string } & (
  | { version: string; measures: Measures }
  | { missing: string }
)

/** Builds one table of all contenders. The first is the reference for the others. */
export function compare(outcomes: readonly Outcome[]): Comparison {
  const measured = outcomes.flatMap((outcome) => ('measures' in outcome ? [outcome.measures] : []))
  const names = [...new Set(measured.flatMap((measures) => Object.keys(measures)))]
  return {
    contenders: outcomes.map(({ name, acknowledgement, ...rest }) =>
      'missing' in rest
        ? { name, acknowledgement, missing: rest.missing }
        : { name, acknowledgement, version: rest.version },
    ),
    rows: names.map((what) => ({
      what,
      unit: measured.map((measures) => unitOf(measures[what])).find((unit) => unit !== undefined) ?? '',
      cells: outcomes.map((outcome) => cellOf(outcome, what)),
    })),
  }
}

function unitOf(measure: Measures[string] | undefined): string | undefined {
  return measure !== undefined && 'unit' in measure ? measure.unit : undefined
}

function cellOf(outcome: Outcome, what: string): Comparison['rows'][number]['cells'][number] {
  if ('missing' in outcome) return { none: 'missing' }
  const measure = outcome.measures[what]
  if (measure === undefined) return { none: 'not measured' }
  return 'none' in measure ? { none: 'not supported', why: measure.none } : { figure: measure.figure }
}
