import type { Session, SessionSummary, Step } from '@playhead/model'

/**
 * A session with what was just heard of it. What comes live was not yet seen in its place among the others, so the
 * place of a step in time is worked out again here.
 */
export function mergeSteps(
  { session, steps }: Session,
  heard: { steps: readonly Step[]; session?: SessionSummary | undefined },
): Session {
  if (heard.steps.length === 0) return { session: heard.session ?? session, steps }
  const positions = new Map(steps.map((step, position) => [step.id, position]))
  const merged = [...steps]
  let isSorted = true
  for (const step of heard.steps) {
    const placed = placeInTime(step, session)
    const position = positions.get(step.id)
    if (position === undefined) {
      if (placed.offsetMs < (merged.at(-1)?.offsetMs ?? 0)) isSorted = false
      positions.set(step.id, merged.length)
      merged.push(placed)
    } else if (!isOlder(placed, merged[position]!)) {
      merged[position] = placed
    }
  }
  if (!isSorted) merged.sort((left, right) => left.offsetMs - right.offsetMs)
  return { session: heard.session ?? { ...session, stepCount: merged.length }, steps: merged }
}

/** A start event that comes after the end changes nothing. */
function isOlder(heard: Step, known: Step): boolean {
  return heard.durationMs === null && known.durationMs !== null
}

/** The sender of live steps may not know when the session began; the session does. */
function placeInTime(step: Step, session: SessionSummary): Step {
  const offsetMs = Date.parse(step.startedAt) - Date.parse(session.startedAt)
  if (!Number.isFinite(offsetMs) || Math.abs(offsetMs - step.offsetMs) <= 1) return step
  return { ...step, offsetMs: Math.max(0, offsetMs) }
}
