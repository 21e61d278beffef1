import type { LogOutline } from '../src/session/log-draft.ts'
import type { StepOutline } from '../src/session/step-draft.ts'
import { resolveSteps } from '../src/assembly/resolve-steps.ts'
import type { ResolvedStep } from '../src/assembly/resolved-step.ts'

/** The start of all test sessions: 2026-01-02T03:04:05.000Z. */
export const SESSION_START = Date.UTC(2026, 0, 2, 3, 4, 5)

type OutlineParts = Omit<Partial<StepOutline>, 'startedAtMs' | 'endedAtMs'> & {
  id: string
  /** Milliseconds since the start of the session; `to: null` for a running step. */
  from?: number
  to?: number | null
}

/** A successful step from 0 to 10 ms, with the given changes. */
export function outline({ from = 0, to = from + 10, ...parts }: OutlineParts): StepOutline {
  return {
    sessionId: 'a'.repeat(32),
    parentId: null,
    isParentRemote: false,
    startedAtMs: SESSION_START + from,
    endedAtMs: to === null ? null : SESSION_START + to,
    kind: 'other',
    name: parts.id,
    dialect: 'otel-genai',
    status: to === null ? 'running' : 'ok',
    ...parts,
  }
}

/** A failed step. */
export function failed(parts: OutlineParts & { message?: string }): StepOutline {
  const { message = `${parts.id} broke`, ...rest } = parts
  return outline({ status: 'error', error: { type: 'ValueError', message }, ...rest })
}

type LogParts = Partial<Omit<LogOutline, 'atMs'>> & { at?: number }

export function log({ at = 0, ...parts }: LogParts): LogOutline {
  return {
    sessionId: 'a'.repeat(32),
    stepId: null,
    atMs: SESSION_START + at,
    severity: 'info',
    name: 'log',
    ...parts,
  }
}

/** Resolves steps and returns them by id. */
export function resolveById(...parts: Parameters<typeof resolveSteps>): { [id: string]: ResolvedStep } {
  return Object.fromEntries(resolveSteps(...parts).map((step) => [step.id, step]))
}
