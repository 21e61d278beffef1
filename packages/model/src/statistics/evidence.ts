import type { EndState } from '../session/end-state.ts'
import type { ForkEdit } from '../session/rerun.ts'
import type { SessionSummary } from '../session/session.ts'
import { fisherExact } from './compare-samples.ts'
import type { Tries } from './statistics.ts'

/** How often the forks with an edit passed, and how often those of the same step without one. */
export type Evidence = Tries & {
  stepId: string
  edit: ForkEdit
  control: Tries
  /** The chance that the edit passes at least this much more often by luck: Fisher's exact test. Null without a control. */
  p: number | null
}

/** Weighs the forks of one session, by step and edit. Those that neither passed nor failed prove nothing. */
export function weighForks(reruns: readonly SessionSummary[]): Evidence[] {
  const byStep = Map.groupBy(
    reruns.filter(({ lane, parentStepId }) => lane === 'fork' && parentStepId !== undefined),
    ({ parentStepId }) => parentStepId!,
  )
  return [...byStep].flatMap(([stepId, forks]) => {
    const byEdit = Map.groupBy(forks, ({ edit }) => sortedJson(edit))
    const control = triesOf(byEdit.get(undefined) ?? [])
    return [...byEdit.values()].flatMap((group) => {
      const edit = group[0]!.edit
      if (edit === undefined) return []
      const tries = triesOf(group)
      const isComparable = tries.total > 0 && control.total > 0
      return [{ stepId, edit, ...tries, control, p: isComparable ? fisherExact(tries, control) : null }]
    })
  })
}

/** Counts only sessions that succeeded or failed; the others have no verdict. */
export function triesOf(sessions: readonly { endState: EndState | null }[]): Tries {
  const passed = sessions.filter(({ endState }) => endState === 'success').length
  return { passed, total: passed + sessions.filter(({ endState }) => endState === 'fail').length }
}

/** The same text for equal values, whatever the order of their keys. */
function sortedJson(value: unknown): string | undefined {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  )
}
