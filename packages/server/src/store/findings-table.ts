import type {
  Diagnosis,
  FindingKind,
  Findings,
  Session,
  SessionSummary,
  Step,
  Suspect,
} from '@playhead/model'
import { DIAGNOSIS_VERSION, namedSuspects, stepTitle } from '@playhead/model'
import { parseObject } from './stored-fields.ts'

/** The findings of a session, with what is needed to count issues. */
export type DiagnosedSession = {
  summary: SessionSummary
  steps: readonly Step[]
  stamp: string
  diagnosis: Diagnosis
  /** The suspects that are said aloud, and what their steps are called. */
  suspects: (Suspect & { name: string })[]
}

export function toDiagnosed(
  { session, steps }: Session,
  stamp: string,
  diagnosis: Diagnosis,
): DiagnosedSession {
  const named = namedSuspects(diagnosis)
  const nameOfStep = (id: string) => nameOf(steps.find((step) => step.id === id))
  const suspects = named.map((suspect) => ({ ...suspect, name: nameOfStep(suspect.stepId) }))
  return { summary: session, steps, stamp, diagnosis, suspects }
}

/** A row of `session_findings`. */
export function toFindingsRow(
  project: string,
  { summary, stamp, diagnosis, suspects: named }: DiagnosedSession,
  version: number,
): Record<string, unknown> {
  const { findings, suspects, issue, nodes } = diagnosis
  return {
    project,
    session_id: summary.id,
    version,
    is_deleted: 0,
    stamp,
    diagnosis_version: DIAGNOSIS_VERSION,
    started_at: summary.startedAt.replace('T', ' ').replace('Z', ''),
    name: summary.name,
    user_id: summary.userId ?? '',
    end_state: summary.endState,
    service_version: versionOf(summary),
    duration_ms: summary.durationMs,
    cost: summary.cost,
    step_count: summary.stepCount,
    kinds: [...new Set(findings.map(({ kind }) => kind))],
    suspect_names: named.map(({ name }) => name),
    suspect_kinds: named.map((suspect) => findings[suspect.findings[0]!]!.kind),
    suspect_steps: named.map(({ stepId }) => stepId),
    sentence: named[0]?.sentence ?? '',
    issue_id: issue?.id ?? '',
    issue_kind: issue?.kind ?? '',
    issue_title: issue?.title ?? '',
    // Re-runs are no examples of how sessions usually go.
    nodes: summary.parentId === undefined ? nodes : [],
    findings: JSON.stringify({ findings, suspects }),
  }
}

/** The row that removes the findings of a session that is part of another one now. */
export function toFindingsTombstone(project: string, id: string, version: number): Record<string, unknown> {
  return { project, session_id: id, version, is_deleted: 1 }
}

/** The version that issues are counted by: that of the program, otherwise the commit. */
function versionOf({ version, vcs }: SessionSummary): string {
  return version ?? vcs?.commit?.slice(0, 12) ?? ''
}

function nameOf(step: Step | undefined): string {
  if (step === undefined) return ''
  return step.kind === 'llm' && step.agent !== undefined ? step.agent : stepTitle(step)
}

export type FindingsRow = { findings: string }

export function findingsFromRow(row: FindingsRow): Findings {
  return parseObject(row.findings) as Findings
}

/** The first suspect of a session, as lists show it. */
export type ListedSuspect = { kind: FindingKind; stepId: string; sentence: string }
