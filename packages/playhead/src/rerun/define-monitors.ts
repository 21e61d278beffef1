import type { DurationText, FindingKind, MonitorFilter } from '@playhead/model'

/** What every session must satisfy: the matchers of the testing kit as data. */
export type MonitorRule =
  /** `{ never: "issue_refund", before: "verify_identity" }`, or never at all. */
  | { never: string; before?: string }
  | { always: string }
  /** The same call, with the same arguments, at most this often. */
  | { atMost: number; action?: string }
  /** No action outside of this list. */
  | { only: readonly string[] }
  /** US dollars. */
  | { cost: number }
  | { duration: DurationText }
  | { noErrors: true }
  | { noFinding: FindingKind | readonly FindingKind[] }
  | { score: string; atLeast: number }

type Common = {
  name: string
  /** Made from the name by default. Keep it when you rename a monitor. */
  id?: string
  /** Which sessions: parameters of `GET /api/sessions`, such as `{ tag: "support" }`. */
  filter?: MonitorFilter
  /** How long it has to be bad before it fires, and good before it is normal again: "5m". */
  for?: DurationText
  isPaused?: boolean
  /** The ids of the destinations that are told when it fires; all of them by default. */
  destinations?: string[]
}

/** A monitor in `playhead.monitors.ts`. */
export type MonitorDefinition = Common &
  (
    | { rule: MonitorRule; within?: DurationText; sessions?: number }
    | ({
        measure: 'failure-rate' | 'cost' | 'p95' | 'count' | 'score'
        score?: string
        over: DurationText
        minimum?: number
        /** The limit is a change against the same time a week before: 0.5 is half as much again. */
        isChange?: true
      } & ({ above: number | string } | { below: number | string }))
    | { silence: DurationText }
    | { issue: DurationText }
  )

/**
 * The monitors of a project, for `playhead monitors apply`.
 *
 * @example
 * export default defineMonitors([
 *   { name: "Refund without identity", rule: { never: "issue_refund", before: "verify_identity" } },
 *   { name: "Failures", measure: "failure-rate", above: 0.05, over: "1h", minimum: 20, filter: { tag: "support" } },
 *   { name: "Silence", silence: "30m" },
 * ])
 */
export function defineMonitors(monitors: readonly MonitorDefinition[]): readonly MonitorDefinition[] {
  return monitors
}
