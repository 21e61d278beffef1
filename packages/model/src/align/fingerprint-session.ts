import type { Session } from '../session/session.ts'
import { endOffsetMs, stepName, type Step } from '../session/step.ts'
import { buildStepTree, type StepBranch } from '../session/step-tree.ts'
import { hashText, isMeasure, shapeOfText, type VolatileToken } from './text-shape.ts'
import { stepResult, stepInput } from '../session/step-input-output.ts'

/** A step with fingerprints that make comparing it cheap. Equal fingerprints mean equal except for ids and times. */
export type FingerprintedStep = {
  step: Step
  /** Its index among the steps of the session. */
  position: number
  /** Kind and name; steps with different identities are never paired. */
  identity: number
  given: number
  result: number
  agent: string
  isWrite: boolean
  /** True when it or a step below it writes. */
  hasWrite: boolean
  isWrapper: boolean
  /** The fingerprint of the step and everything below it. */
  whole: number
  startMs: number
  endMs: number
  children: FingerprintedStep[]
}

export type FingerprintedSession = {
  session: Session
  top: FingerprintedStep[]
  count: number
  /** Ids that occur in it. */
  ids: Set<string>
  identities: Set<number>
  fingerprint: number
}

/** Deeper steps are treated as siblings, which bounds the recursion. */
const MAX_DEPTH = 100

export function fingerprintSession(session: Session, hasPayloads: boolean): FingerprintedSession {
  const ids = new Set<string>()
  const identities = new Set<number>()
  const onToken = ({ text }: VolatileToken) => void ids.add(text)
  const positions = new Map(session.steps.map((step, index) => [step.id, index]))
  const fingerprint = (branch: StepBranch, depth: number): FingerprintedStep[] => {
    if (depth === MAX_DEPTH && branch.children.length > 0)
      return withoutNesting(branch).flatMap((alone) => fingerprint(alone, depth))
    const { step } = branch
    const identity = hashText(identityOf(step))
    identities.add(identity)
    const given = hashText(shapeOfValue(stepInput(step, hasPayloads), onToken))
    const result = hashText(shapeOfValue(stepResult(step, hasPayloads), onToken))
    const children = branch.children.flatMap((child) => fingerprint(child, depth + 1))
    const fingerprinted: FingerprintedStep = {
      step,
      position: positions.get(step.id)!,
      identity,
      given,
      result,
      agent: step.agent ?? '',
      isWrite: step.effect === 'write',
      hasWrite: step.effect === 'write' || children.some(({ hasWrite }) => hasWrite),
      isWrapper: wrappers.has(step.kind),
      whole: hashText([identity, given, result, ...children.map(({ whole }) => whole)].join()),
      startMs: step.offsetMs,
      endMs: endOffsetMs(step),
      children,
    }
    return [fingerprinted]
  }
  const top = buildStepTree(session.steps).flatMap((branch) => fingerprint(branch, 0))
  const whole = hashText(top.map(({ whole }) => whole).join())
  return { session, top, count: session.steps.length, ids, identities, fingerprint: whole }
}

/** A branch and everything below it as a flat list. */
function withoutNesting(branch: StepBranch): StepBranch[] {
  const all: StepBranch[] = []
  const waiting = [branch]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    all.push({ step: next.step, children: [] })
    for (const child of next.children.toReversed()) waiting.push(child)
  }
  return all
}

const wrappers: ReadonlySet<string> = new Set(['workflow', 'agent', 'other'])

function identityOf(step: Step): string {
  switch (step.kind) {
    case 'llm':
    case 'embedding':
      return step.kind
    case 'action':
    case 'agent':
      return `${step.kind} ${stepName(step)}`
    case 'handoff':
      return `handoff ${step.handoff?.to ?? step.name}`
    default:
      return `${step.kind} ${shapeOfText(step.name)}`
  }
}

/** Recordings come from strangers, so the depth is bounded. */
const MAX_VALUE_DEPTH = 64

/** A text that is equal for values that differ only in ids, times, measurements and the order of keys. */
export function shapeOfValue(value: unknown, onToken?: (token: VolatileToken) => void, depth = 0): string {
  if (typeof value === 'string') return shapeOfText(value, onToken)
  if (typeof value === 'number') return shapeOfText(String(value), onToken)
  if (typeof value !== 'object' || value === null) return String(value)
  if (depth >= MAX_VALUE_DEPTH) return '…'
  const shape = (item: unknown) => shapeOfValue(item, onToken, depth + 1)
  if (Array.isArray(value)) return `[${value.map(shape).join('\u0001')}]`
  const entries = Object.keys(value)
    .toSorted()
    .map((key) => {
      const item = (value as { [key: string]: unknown })[key]
      return `${key}:${isMeasure(key) && typeof item === 'number' ? '⟨measure⟩' : shape(item)}`
    })
  return `{${entries.join('\u0001')}}`
}
