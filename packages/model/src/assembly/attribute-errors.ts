import { hasFailed } from '../session/failure.ts'
import type { ResolvedStep } from './resolved-step.ts'
import type { StepError } from '../session/step.ts'
import { BLIND, ENDS_WITH_FAILURE, MAY_FAIL_ABOVE, type ErrorTrail, type StepNode } from './step-node.ts'

/** Errors kept per step on the way up: enough to recognise one, and a bound for sessions full of failures. */
const MAX_TRAILS = 16
/** Shorter messages match too much by chance. */
const MIN_MATCH_LENGTH = 8
const CAUSES_FOLLOWED = 5

export type ErrorOptions = {
  /** The process that records the session reads it: a session that still runs has survived every error so far. */
  isReadWhileRecording?: boolean | undefined
}

/**
 * Gives every error one owner: the deepest step that has it. Steps above that have it too passed it on. It counts as
 * handled when a step above them succeeded, whatever the steps in between made of it, or when a later attempt of the
 * same call did.
 */
export function attributeErrors(
  walk: readonly StepNode[],
  { isReadWhileRecording = false }: ErrorOptions = {},
): void {
  if (!walk.some((node) => hasFailed(node.step))) return
  const wasTriedAgain = createRetryFinder(walk)
  markBlindContainers(walk)
  markBelowFailures(walk)
  const trails: ErrorTrail[] = []
  for (let index = walk.length - 1; index >= 0; index -= 1) {
    const node = walk[index]!
    if (node.bits & BLIND && node.step.status === 'ok') copyStatusOfLastChild(node)
    excuseGuardrail(node.step)
    if (hasFailed(node.step)) followError(node, trails, wasTriedAgain)
    if (node.trails !== null && node.bits & MAY_FAIL_ABOVE) passUp(node.trails, node.parent!)
  }
  const wentOn = createProgressFinder()
  for (const { owner, top } of trails)
    if (hasSurvivor(top, { wentOn, isReadWhileRecording }) || wasTriedAgain(top)) markHandled({ owner, top })
}

type ProgressFinder = (running: StepNode, failed: StepNode) => boolean

/** A step that still runs has caught an error below it if it has started something since. */
function createProgressFinder(): ProgressFinder {
  const latestStarts = new Map<StepNode, number>()
  return (running, { step }) => {
    let latestMs = latestStarts.get(running)
    if (latestMs === undefined) {
      latestMs = -Infinity
      for (let child = running.firstChild; child !== null; child = child.nextSibling)
        latestMs = Math.max(latestMs, child.step.startedAtMs)
      latestStarts.set(running, latestMs)
    }
    return step.endedAtMs !== null && latestMs >= step.endedAtMs
  }
}

function hasSurvivor(
  top: StepNode,
  { wentOn, isReadWhileRecording }: { wentOn: ProgressFinder; isReadWhileRecording: boolean },
): boolean {
  let below = top
  for (let above = top.parent; above !== null; above = above.parent) {
    const { status } = above.step
    if (status === 'ok' || (status === 'running' && wentOn(above, below))) return true
    below = above
  }
  return below !== top && below.step.status === 'running' && isReadWhileRecording
}

/**
 * Some senders leave a container without status, or set it to OK, whatever happened inside. If it has no output and
 * its last step is an agent that failed, it failed too.
 */
function markBlindContainers(walk: readonly StepNode[]): void {
  for (let index = walk.length - 1; index >= 0; index -= 1) {
    const node = walk[index]!
    const { kind, status, outputPreview } = node.step
    if (status === 'running' || outputPreview !== undefined) continue
    if (kind !== 'workflow' && kind !== 'agent' && kind !== 'other') continue
    const last = lastChildOf(node)
    if (last === undefined) continue
    const hasAgentFailed = last.step.kind === 'agent' && last.step.status === 'error'
    if (hasAgentFailed || last.bits & ENDS_WITH_FAILURE)
      node.bits |= status === 'ok' ? BLIND | ENDS_WITH_FAILURE : ENDS_WITH_FAILURE
  }
}

/** Errors are followed upwards only where a step above may have failed. */
function markBelowFailures(walk: readonly StepNode[]): void {
  for (const node of walk) {
    const { parent } = node
    if (parent === null) continue
    if (parent.bits & (MAY_FAIL_ABOVE | BLIND) || hasFailed(parent.step)) node.bits |= MAY_FAIL_ABOVE
  }
}

function passUp(trails: ErrorTrail[], parent: StepNode): void {
  parent.trails = parent.trails === null ? trails : [...trails, ...parent.trails].slice(-MAX_TRAILS)
}

/** A guardrail that stops a run works as intended; the step above carries the error. */
function excuseGuardrail(step: ResolvedStep): void {
  if (step.kind !== 'guardrail' || step.guardrail?.isTriggered !== true || !hasFailed(step)) return
  step.status = 'ok'
  delete step.error
}

function lastChildOf(node: StepNode): StepNode | undefined {
  let last: StepNode | undefined
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    const { kind, startedAtMs } = child.step
    if (kind === 'guardrail' || kind === 'event' || kind === 'handoff') continue
    if (last === undefined || startedAtMs >= last.step.startedAtMs) last = child
  }
  return last
}

function copyStatusOfLastChild(node: StepNode): void {
  const last = lastChildOf(node)
  if (last === undefined || !hasFailed(last.step)) return
  node.step.status = last.step.status
  node.step.error ??= errorOf(last.step)
}

function followError(node: StepNode, all: ErrorTrail[], wasTriedAgain: RetryFinder): void {
  const { step } = node
  const error = errorOf(step)
  const below = trailsOf(error, node, wasTriedAgain)
  step.error = below.length > 0 ? { ...error, isPropagated: true } : error
  for (const trail of below) {
    const { owner } = trail
    if (below.some((other) => isReportAgain(trail, other)))
      owner.step.error = { ...errorOf(owner.step), isPropagated: true }
  }
  for (const trail of below) trail.top = node
  if (below.length > 0) return
  const trail = { owner: node, top: node }
  all.push(trail)
  node.trails = [...(node.trails ?? []), trail].slice(-MAX_TRAILS)
}

/** True for a container without steps that another instrumentation reports beside the one in which the error arose. */
function isReportAgain({ owner }: ErrorTrail, other: ErrorTrail): boolean {
  const { step, parent, firstChild } = owner
  if (other.owner === owner || other.top.parent !== parent || firstChild !== null) return false
  if (step.kind !== 'agent' && step.kind !== 'workflow') return false
  const beside = other.top.step
  const isDuring =
    beside.startedAtMs <= (step.endedAtMs ?? Infinity) && step.startedAtMs <= (beside.endedAtMs ?? Infinity)
  return isDuring && beside.reporter !== step.reporter && isSameError(errorOf(step), errorOf(beside))
}

function errorOf(step: ResolvedStep): StepError {
  return step.error ?? { type: 'Error', message: '' }
}

/** The errors below that this step passes on. */
function trailsOf(error: StepError, node: StepNode, wasTriedAgain: RetryFinder): ErrorTrail[] {
  if (node.trails === null) return []
  if (lacksDetails(error))
    return node.trails.filter(({ top }) => top.parent === node && !wasTriedAgain(top)).slice(-1)
  const same = node.trails.filter(
    ({ owner, top }) =>
      isSameError(error, errorOf(owner.step)) ||
      isSameError(error, errorOf(top.step)) ||
      (top.parent === node && saysOnlyStatus(errorOf(top.step)) && !wasTriedAgain(top)),
  )
  const unsolved = same.filter(({ top }) => !wasTriedAgain(top))
  return unsolved.length > 0 ? unsolved : same
}

/** True for an error without details: a bare status, or what OpenAI Agents and Agno put on every agent that failed. */
export function lacksDetails({ type, message }: StepError): boolean {
  const text = message.trim()
  return text === '' || text === type || /^(?:error in agent run|run status: error)\.?$/i.test(text)
}

/** True for the error of an HTTP span: the client above says what the status means. */
function saysOnlyStatus(error: StepError): boolean {
  return (
    lacksDetails(error) ||
    /^(?:http |status(?: code)? )?[45]\d\d(?: [\w ]{1,40})?$/i.test(error.message.trim())
  )
}

/** Compares the chains of causes, because an error may be wrapped several times on its way up. */
function isSameError(outer: StepError, inner: StepError): boolean {
  return causesOf(outer).some((left) =>
    causesOf(inner).some((right) => isSameText(left.message, right.message)),
  )
}

function causesOf(error: StepError): StepError[] {
  const causes: StepError[] = []
  for (let next: StepError | undefined = error; next !== undefined; next = next.cause) {
    causes.push(next)
    if (causes.length === CAUSES_FOLLOWED) break
  }
  return causes
}

function isSameText(left: string, right: string): boolean {
  const [shorter, longer] = left.length < right.length ? [left.trim(), right] : [right.trim(), left]
  if (shorter === longer.trim()) return shorter !== ''
  return shorter.length >= MIN_MATCH_LENGTH && longer.includes(shorter)
}

type RetryFinder = (node: StepNode) => boolean

/** Finds out whether a later sibling repeated a failed model call successfully. */
function createRetryFinder(walk: readonly StepNode[]): RetryFinder {
  let lastSuccesses: LastSuccesses | undefined
  return ({ step, parent }) => {
    if (parent === null || (step.kind !== 'llm' && step.kind !== 'embedding')) return false
    lastSuccesses ??= findLastSuccesses(walk)
    return (lastSuccesses[step.kind].get(parent) ?? -1) >= step.startedAtMs
  }
}

/** The start of the last successful call below each parent. */
type LastSuccesses = Record<'llm' | 'embedding', Map<StepNode, number>>

function findLastSuccesses(walk: readonly StepNode[]): LastSuccesses {
  const lastSuccesses: LastSuccesses = { llm: new Map(), embedding: new Map() }
  for (const { step, parent } of walk) {
    if (parent === null || step.status !== 'ok' || (step.kind !== 'llm' && step.kind !== 'embedding'))
      continue
    const last = lastSuccesses[step.kind].get(parent) ?? 0
    lastSuccesses[step.kind].set(parent, Math.max(last, step.startedAtMs))
  }
  return lastSuccesses
}

function markHandled({ owner, top }: ErrorTrail): void {
  for (let node: StepNode | null = owner; node !== null; node = node.parent) {
    const { error } = node.step
    if (error !== undefined && hasFailed(node.step)) node.step.error = { ...error, isHandled: true }
    if (node === top) return
  }
}
