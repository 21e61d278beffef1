import { isRecord } from '../json/attribute-value.ts'
import type { Message } from './message.ts'
import { argumentsOf } from './problem.ts'
import type { Session, SessionSummary } from './session.ts'
import type { Step } from './step.ts'

/** What the recorded run of an agent was given. */
export type AgentInput = {
  /** The input as text: the input itself, the text in it, or the last thing the user said. */
  text: string
  /** The input as it was recorded. Undefined if it is only known from a message. */
  value: unknown
  /** The arguments of the function that `agent()` or `recordAction()` recorded, if that is where the input comes from. */
  args?: unknown[]
  /** What the first model call was sent, without the system prompt. */
  messages: Message[]
  /** `session`: recorded with `withSession({ input })`. `step`: the arguments of the first step. `message`: a guess. */
  from: 'session' | 'step' | 'message'
  session: SessionSummary
  /** Earlier turns of the same conversation, oldest first. */
  thread: { input: AgentInput; output: unknown }[]
}

export type InputOptions = {
  /** `input` of the agent's config. */
  find?: ((session: Session) => unknown) | undefined
  /** Earlier sessions of the same thread, oldest first. */
  thread?: readonly Session[] | undefined
}

/** What a session was given, as far as it was recorded. */
export function readAgentInput(session: Session, { find, thread = [] }: InputOptions = {}): AgentInput {
  const messages = firstQuestion(session.steps)
  const found =
    find === undefined ? findValue(session.steps) : { value: find(session), from: 'session' as const }
  const said = messages.findLast(({ role }) => role === 'user')
  return {
    text: textOf(found?.value) ?? (said === undefined ? '' : textOfMessage(said)),
    value: found?.value,
    ...(found?.args !== undefined && { args: found.args }),
    messages,
    from: found?.from ?? 'message',
    session: session.session,
    thread: thread.map((earlier) => ({
      input: readAgentInput(earlier, find === undefined ? {} : { find }),
      output: outputOf(earlier.steps),
    })),
  }
}

type FoundInput = { value: unknown; from: 'session' | 'step'; args?: unknown[] }

/** The input that the session declares, otherwise the arguments of its root or of the first step below. */
function findValue(steps: readonly Step[]): FoundInput | undefined {
  const root = steps.find(({ parentId }) => parentId === null) ?? steps[0]
  if (root === undefined) return undefined
  const declared = root.attributes?.['playhead.session.input']
  if (declared !== undefined) return { value: parseOnce(declared), from: 'session' }
  const first = steps.find(({ parentId }) => parentId === root.id)
  for (const step of [root, first]) {
    if (step === undefined || !['agent', 'action', 'workflow'].includes(step.kind)) continue
    const value = argumentsOf(step) ?? step.input
    if (value === undefined) continue
    const args = step.dialect.includes('playhead') ? listArguments(value) : undefined
    return { value, from: 'step', ...(args !== undefined && { args }) }
  }
  return undefined
}

/** Arguments are recorded by name, in the order in which the function declares them. */
function listArguments(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value
  return isRecord(value) ? Object.values(value) : undefined
}

const textKeys = ['text', 'message', 'question', 'prompt', 'query', 'input']

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (!isRecord(value) && !Array.isArray(value)) return undefined
  const texts = Object.values(value).filter((item) => typeof item === 'string')
  if (texts.length === 1) return texts[0]
  const key = isRecord(value) ? textKeys.find((name) => typeof value[name] === 'string') : undefined
  return key === undefined ? undefined : ((value as Record<string, unknown>)[key] as string)
}

function firstQuestion(steps: readonly Step[]): Message[] {
  const call = steps.find(({ kind, messages }) => kind === 'llm' && messages !== undefined)
  return (call?.messages ?? []).filter(
    ({ role, isOutput }) => isOutput !== true && role !== 'system' && role !== 'developer',
  )
}

function textOfMessage({ parts }: Message): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

/** What the root returned, otherwise the last reply of a model. */
function outputOf(steps: readonly Step[]): unknown {
  const root = steps.find(({ parentId }) => parentId === null)
  if (root?.output !== undefined) return root.output
  const reply = steps
    .findLast(({ kind, messages }) => kind === 'llm' && messages?.some(({ isOutput }) => isOutput) === true)
    ?.messages?.findLast(({ isOutput }) => isOutput)
  return reply === undefined ? undefined : textOfMessage(reply)
}

function parseOnce(json: unknown): unknown {
  if (typeof json !== 'string') return json
  try {
    return JSON.parse(json) as unknown
  } catch {
    return json
  }
}
