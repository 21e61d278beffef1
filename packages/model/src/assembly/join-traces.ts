import type { CauseElsewhere, StepOutline } from '../session/step-draft.ts'

/** What decides whether a trace is a session of its own. */
export type Trace = {
  id: string
  startedAtMs: number
  /** The last moment at which one of its steps is known to have been active. */
  activeUntilMs: number
  /** Its root's cause in another trace. */
  cause?: CauseElsewhere
}

/** How long a message may wait for whoever handles it and still belong to the run that sent it. */
const MESSAGE_WAIT_MS = 60_000
/** How long a tool may take before the model gets its result. */
const TOOL_WAIT_MS = 3_600_000

/**
 * Some frameworks (AutoGen) begin a trace for every message and link it to the step that sent the message. Such traces are
 * one run, so they are one session: a trace belongs to the trace that its root links to if it began while that one was
 * active or, for a message, at most a minute later. A root that links to something that was over is a later turn, and
 * stays a session of its own. A model call that continues another one outside of any session belongs to it as well. Returns the session of each trace that belongs to another one; traces may come in any order.
 */
export function joinTraces(traces: readonly Trace[]): Map<string, string> {
  const byId = new Map(traces.map((trace) => [trace.id, trace]))
  const before = new Map<string, Trace>()
  for (const trace of traces) {
    const earlier = traceBefore(trace, byId)
    if (earlier !== undefined) before.set(trace.id, earlier)
  }
  const joined = new Map<string, string>()
  for (const trace of traces) {
    const { id } = firstOf(trace, before)
    if (id !== trace.id) joined.set(trace.id, id)
  }
  return joined
}

/** Describes a trace by its steps, in any order. */
export function describeTrace(id: string, outlines: readonly StepOutline[]): Trace {
  let root: StepOutline | undefined
  let continued: CauseElsewhere | undefined
  let startedAtMs = Infinity
  let activeUntilMs = 0
  for (const outline of outlines) {
    startedAtMs = Math.min(startedAtMs, outline.startedAtMs)
    activeUntilMs = Math.max(activeUntilMs, outline.endedAtMs ?? outline.startedAtMs)
    if (outline.cause?.isContinued === true) continued = outline.cause
    if (outline.parentId === null && (root === undefined || isBefore(outline, root))) root = outline
  }
  const cause = root?.cause ?? continued
  return { id, startedAtMs, activeUntilMs, ...(cause !== undefined && { cause }) }
}

/**
 * Makes one session of the steps of joined traces. A root becomes the child of the step that it links to if it began
 * while that step was active; otherwise it stays a root: a chain of messages is no nesting.
 */
export function asOneSession(sessionId: string, outlines: readonly StepOutline[]): StepOutline[] {
  const byId = new Map(outlines.map((outline) => [outline.id, outline]))
  return outlines.map((outline) => {
    const parent = outline.cause?.steps
      .map(({ stepId }) => byId.get(stepId))
      .find((step) => step !== undefined && step !== outline && isActiveAt(step, outline.startedAtMs))
    const parentId = outline.parentId ?? parent?.id ?? null
    return { ...outline, sessionId, parentId }
  })
}

/** The first linked trace that this one can be a part of. */
function traceBefore({ cause, startedAtMs, id }: Trace, byId: ReadonlyMap<string, Trace>): Trace | undefined {
  const waitMs = cause?.isContinued === true ? TOOL_WAIT_MS : cause?.isMessage === true ? MESSAGE_WAIT_MS : 0
  for (const { traceId } of cause?.steps ?? []) {
    const linked = byId.get(traceId)
    if (linked !== undefined && linked.id !== id && startedAtMs <= linked.activeUntilMs + waitMs)
      return linked
  }
  return undefined
}

/** Follows links to the first trace of the run. In a circle of links, that is the earliest. */
function firstOf(trace: Trace, before: ReadonlyMap<string, Trace>): Trace {
  const path = new Set<Trace>()
  let current = trace
  for (; !path.has(current); current = before.get(current.id)!) {
    if (!before.has(current.id)) return current
    path.add(current)
  }
  const circle = [...path].slice([...path].indexOf(current))
  return circle.reduce((first, other) => (isBefore(other, first) ? other : first))
}

function isBefore(left: { startedAtMs: number; id: string }, right: typeof left): boolean {
  return (
    left.startedAtMs < right.startedAtMs || (left.startedAtMs === right.startedAtMs && left.id < right.id)
  )
}

function isActiveAt(step: StepOutline, timeMs: number): boolean {
  return step.startedAtMs <= timeMs && timeMs <= (step.endedAtMs ?? Infinity)
}
