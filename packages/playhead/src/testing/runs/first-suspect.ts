import { diagnoseSession, namedSuspects, visibleText } from '@playhead/model'
import type { SessionView } from 'playhead'

/**
 * The step that probably made a test fail: "Suspect: search_help was called 5 times …". Undefined if no evidence speaks
 * against a step other than the test itself. Never throws.
 */
export function describeFirstSuspect(session: SessionView): string | undefined {
  try {
    const recorded = session.toJSON()
    const test = recorded.steps[0]?.id
    const suspect = namedSuspects(diagnoseSession(recorded)).find(({ stepId }) => stepId !== test)
    return suspect === undefined ? undefined : `Suspect: ${visibleText(suspect.sentence)}`
  } catch {
    return undefined
  }
}
