import { isRecord } from '../json/attribute-value.ts'
import { parseJson } from '../json/json-text.ts'
import type { Session } from '../session/session.ts'
import { argumentsOf } from '../session/problem.ts'
import { stepName, type Step } from '../session/step.ts'
import { buildStepTree, type StepBranch } from '../session/step-tree.ts'
import type { CassetteAnswer } from './cassette.ts'
import { readMeaning, type Meaning } from './meaning.ts'

type EntryBase = {
  step: Step
  /** The number of the step in its session; the first is 1. */
  number: number
  isUsed: boolean
}

/** A recorded model call: what was asked, and the step that holds the answer. */
export type ModelEntry = EntryBase & {
  kind: 'model'
  asked: Meaning
  /** The answer as a cassette has it, in the form of the named API. */
  exact?: { api: string; answer: CassetteAnswer }
}

/** A recorded action. One that holds other entries runs again, and what is inside it is served. */
export type ActionEntry = EntryBase & {
  kind: 'action'
  name: string
  arguments: unknown
  isContainer: boolean
  /** Why a cassette has no result of it. */
  notServable?: string
}

export type TapeEntry = ModelEntry | ActionEntry

/** A step that a run can ask for. */
export type AskableStep = { step: Step; number: number } & (
  | { kind: 'model' }
  | { kind: 'action'; isContainer: boolean }
)

/** The model calls and actions of a session that a run can ask for, in recorded order, with what was asked. */
export function readEntries(session: Session): TapeEntry[] {
  return findAskable(session).map((askable) => {
    const { step } = askable
    return askable.kind === 'model'
      ? { ...askable, isUsed: false, asked: readMeaning(step) }
      : { ...askable, isUsed: false, name: stepName(step), arguments: recordedArguments(step) }
  })
}

/** The model calls and actions of a session that a run can ask for, in recorded order. */
export function findAskable({ steps }: Session): AskableStep[] {
  const numbers = new Map(steps.map((step, index) => [step.id, index + 1]))
  const askable: AskableStep[] = []
  const visit = (branch: StepBranch): boolean => {
    const { step } = branch
    const holdsEntries = branch.children.map(visit).some(Boolean)
    const base = { step, number: numbers.get(step.id) ?? 0 }
    if (isModelCall(branch)) {
      askable.push({ ...base, kind: 'model' })
      return true
    }
    if (step.kind === 'action' && isAsked(step)) {
      askable.push({ ...base, kind: 'action', isContainer: holdsEntries || holdsAgent(branch) })
      return true
    }
    return holdsEntries
  }
  for (const branch of buildStepTree(steps)) visit(branch)
  return askable.toSorted((one, other) => one.number - other.number)
}

/** Some instrumentations report a call twice, one inside the other; the one with the messages counts. */
function isModelCall({ step, children }: StepBranch): boolean {
  if (step.kind !== 'llm' && step.kind !== 'embedding') return false
  const inner = children.filter(({ step: { kind } }) => kind === 'llm' || kind === 'embedding')
  if (inner.length === 0) return step.messages !== undefined || step.error !== undefined
  return step.messages !== undefined && inner.every(({ step: { messages } }) => messages === undefined)
}

/** Nobody calls an action that was reported after the fact or that only the conversation shows. */
function isAsked(step: Step): boolean {
  return step.isInferred !== true && step.attributes?.['playhead.step.reported'] !== true
}

function holdsAgent({ children }: StepBranch): boolean {
  return children.some((child) => child.step.kind === 'agent' || holdsAgent(child))
}

/** The arguments as our SDK wrote them. Those of the step may have been unwrapped for people to read. */
function recordedArguments(step: Step): unknown {
  const text =
    step.attributes?.['gen_ai.tool.call.arguments'] ?? step.attributes?.['playhead.action.arguments']
  return typeof text === 'string' && step.dialect.includes('playhead')
    ? parseRecorded(text)
    : argumentsOf(step)
}

/**
 * Recorded arguments without those that the function does not declare, which older SDKs recorded as well. Undefined
 * if there are none.
 */
export function declaredArguments(recorded: unknown, given: unknown): unknown {
  if (!isRecord(given)) return undefined
  if (Array.isArray(recorded)) return Object.keys(given).length === 0 ? {} : undefined
  if (!isRecord(recorded)) return undefined
  const declared = Object.entries(recorded).filter(([name]) => name in given || !/^\d+$/.test(name))
  return declared.length === Object.keys(recorded).length ? undefined : Object.fromEntries(declared)
}

/** The recorded result of an action as JSON. The step's own `tool.result` may have been unwrapped for people to read. */
export function recordedResult(step: Step): unknown {
  const text = step.attributes?.['gen_ai.tool.call.result'] ?? step.attributes?.['playhead.action.result']
  if (typeof text === 'string') return parseRecorded(text)
  // It returned undefined. What the step has instead is what the model was told.
  if (text === undefined && step.attributes?.['playhead.action.shape'] !== undefined) return undefined
  return text ?? step.tool?.result ?? step.output
}

function parseRecorded(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** Every id in the session, so that a live id that the tape knows can't be taken for another. */
export function collectTexts(entries: readonly TapeEntry[], onText: (text: string) => void): void {
  const visit = (value: unknown, depth: number): void => {
    if (typeof value === 'string') {
      onText(value)
      const parsed = value.startsWith('{') || value.startsWith('[') ? parseJson(value) : undefined
      if (isRecord(parsed) || Array.isArray(parsed)) visit(parsed, depth + 1)
    } else if (typeof value === 'object' && value !== null && depth < 40) {
      for (const item of Object.values(value)) visit(item, depth + 1)
    }
  }
  for (const entry of entries) visit(entry.kind === 'model' ? entry.asked.messages : entry.arguments, 0)
}
