import type { ResolvedStep } from './resolved-step.ts'
import type { SessionFacts } from '../session/step-draft.ts'

/** Default names of frameworks, which say nothing. */
const defaultNames: ReadonlySet<string> = new Set([
  'agent workflow',
  'default',
  'invocation',
  'response',
  'root',
  'runnablesequence',
  'session',
  'span',
  'trace',
  'turn',
  'unknown',
])
const NAME_LENGTH = 80

/** The name of a session: the explicit one, or that of the root, of the first agent or workflow, or its input. */
export function nameSession(facts: SessionFacts, { top, steps, inputPreview }: NameSources): string {
  if (facts.name) return facts.name
  const root = top[0]
  if (root !== undefined && isDescriptive(root.name) && !isModelName(root)) return root.name
  const agent = steps.find((step) => step.kind === 'agent' && isDescriptive(step.agent ?? step.name))
  if (agent !== undefined) return agent.agent ?? agent.name
  const workflow = steps.find((step) => step.kind === 'workflow' && isDescriptive(step.name))
  if (workflow !== undefined) return workflow.name
  return nameByInput(inputPreview) ?? defaultName(root)
}

/** Whether a session is called what was said in it. */
export function isNamedByInput(name: string, inputPreview: string | undefined): boolean {
  return name === nameByInput(inputPreview)
}

function nameByInput(inputPreview: string | undefined): string | undefined {
  const line = inputPreview?.trim().split('\n', 1)[0]
  if (line === undefined || line === '') return undefined
  return line.length > NAME_LENGTH ? `${line.slice(0, NAME_LENGTH)}…` : line
}

function defaultName(root: ResolvedStep | undefined): string {
  return root === undefined || root.name.trim() === '' ? 'session' : root.name
}

type NameSources = {
  top: readonly ResolvedStep[]
  steps: readonly ResolvedStep[]
  inputPreview: string | undefined
}

/** A session of a single model call is better named by its input. */
function isModelName({ kind, name, model, requestedModel }: ResolvedStep): boolean {
  if (kind !== 'llm' && kind !== 'embedding') return false
  return [model, requestedModel].some((known) => known !== undefined && name.includes(known))
}

function isDescriptive(name: string): boolean {
  const text = name.trim().toLowerCase()
  return text !== '' && !defaultNames.has(text) && !uuid.test(text)
}

/** AutoGen names its queues after the run. */
const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/
