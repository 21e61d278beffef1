import { toSkeleton, type Session, type StepSkeleton } from '@playhead/model'

/** How sessions with more steps than `LONG_SESSION_STEPS` are returned. */
export const longForms = ['whole', 'skeleton'] as const

/** Shorter ones are small enough to come whole. */
export const LONG_SESSION_STEPS = 2_000

/** A session whose steps may stand in a skeleton; `steps` are then those that come whole. */
export type ShortenedSession = Session & { skeleton?: StepSkeleton }

/** A long session with its skeleton instead of most steps. Those that have payloads stay whole, unless content was left out. */
export function shortenSession(session: Session, { hasContent }: { hasContent: boolean }): ShortenedSession {
  if (session.steps.length <= LONG_SESSION_STEPS) return session
  return {
    ...session,
    steps: hasContent ? session.steps.filter(({ hasPayload }) => hasPayload) : [],
    skeleton: toSkeleton(session.steps),
  }
}
