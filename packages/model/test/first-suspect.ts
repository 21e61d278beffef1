import type { Session } from '../src/session/session.ts'
import { diagnoseSession, type DiagnosisContext } from '../src/findings/diagnose-session.ts'
import type { FindingKind } from '../src/findings/finding.ts'

/** The first suspect: the step, the kind of its first finding, and the sentence. */
export function firstSuspect(
  session: Session,
  context?: DiagnosisContext,
): { step: string; kind: FindingKind; sentence: string } | undefined {
  const { findings, suspects } = diagnoseSession(session, context)
  const [first] = suspects
  if (first === undefined) return undefined
  return { step: first.stepId, kind: findings[first.findings[0]!]!.kind, sentence: first.sentence }
}

/** What a session without anything wrong has. */
export const nothing = { findings: [], suspects: [] }
