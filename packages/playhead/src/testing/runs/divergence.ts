import type { SessionView } from 'playhead'
import { alignSessions, describeFirstDivergence, type Alignment } from '@playhead/model'
import type { FinishedRun } from './judge-runs.ts'

/** Says of the first failed run of each input where it parted from one that passed: of the same input, else of any. */
export function noteDivergences(runs: readonly FinishedRun[], views: ReadonlyMap<string, SessionView>): void {
  for (const ofVariant of Map.groupBy(runs, ({ variant }) => variant).values()) {
    const failed = ofVariant.find(({ isPassed }) => !isPassed)
    const passed = ofVariant.find(isPassing) ?? runs.find(isPassing)
    const [before, now] = [views.get(passed?.sessionId ?? ''), views.get(failed?.sessionId ?? '')]
    if (failed === undefined || before === undefined || now === undefined) continue
    const alignment = alignSessions(before.toJSON(), now.toJSON())
    const divergence = isOnlyTheEnd(alignment) ? undefined : describeFirstDivergence(alignment)
    if (divergence !== undefined) failed.divergence = divergence
  }
}

function isPassing({ isPassed }: FinishedRun): boolean {
  return isPassed
}

/** That the session of a failed test failed is no news. */
export function isOnlyTheEnd({ divergence, rows }: Alignment): boolean {
  return divergence?.row === undefined || (rows[divergence.row]?.depth === 0 && divergence.kind === 'result')
}
