import { tapeOfRequest, type ActiveTape } from '../record/session/active-tape.ts'

/** The error of a connection, lookup or command that a strict run may not make. The tape hears of it. */
export function refuse(
  sentence: string,
  tape: ActiveTape | undefined = tapeOfRequest(),
): Error & { code: string } {
  try {
    tape?.onRefused?.(sentence)
  } catch {
    // The tape reports its own faults.
  }
  return Object.assign(new Error(sentence), { code: 'ERR_PLAYHEAD_REFUSED' })
}
