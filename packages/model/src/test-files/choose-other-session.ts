import { readAgentInput } from '../session/agent-input.ts'
import type { Session, SessionSummary } from '../session/session.ts'

/** The session to join with a failed one, and why it shows what should have happened. */
export type OtherSession = { session: SessionSummary; why: 'passed' | 'fork' }

/**
 * The last session of the same name and input that passed; otherwise the last fork of the failed one that did. Undefined
 * if there is neither. `reruns` are re-runs of the failed session.
 */
export function chooseOtherSession(
  failed: SessionSummary,
  candidates: readonly SessionSummary[],
  reruns: readonly SessionSummary[],
): OtherSession | undefined {
  const passed = newest(
    candidates.filter(
      (session) =>
        hasPassed(session) &&
        session.id !== failed.id &&
        session.parentId === undefined &&
        session.name === failed.name &&
        session.inputPreview !== undefined &&
        session.inputPreview === failed.inputPreview,
    ),
  )
  if (passed !== undefined) return { session: passed, why: 'passed' }
  const fork = newest(reruns.filter((session) => hasPassed(session) && session.edit !== undefined))
  return fork === undefined ? undefined : { session: fork, why: 'fork' }
}

/** The chosen session with its steps, if its whole input is the same: summaries only have the first line of it. */
export async function findOtherSession(
  failed: Session,
  candidates: readonly SessionSummary[],
  reruns: readonly SessionSummary[],
  read: (sessionId: string) => Promise<Session>,
): Promise<{ session: Session; why: OtherSession['why'] } | undefined> {
  const input = inputOf(failed)
  for (let left = candidates; ;) {
    const chosen = chooseOtherSession(failed.session, left, reruns)
    if (chosen === undefined) return undefined
    const { why } = chosen
    const session = await read(chosen.session.id)
    if (why === 'fork' || inputOf(session) === input) return { session, why }
    left = left.filter(({ id }) => id !== chosen.session.id)
  }
}

function inputOf(session: Session): string {
  const { text, value } = readAgentInput(session)
  return JSON.stringify([text, value])
}

function hasPassed({ endState }: SessionSummary): boolean {
  return endState === 'success'
}

function newest(sessions: readonly SessionSummary[]): SessionSummary | undefined {
  return sessions.toSorted((one, other) => (one.startedAt < other.startedAt ? 1 : -1))[0]
}
