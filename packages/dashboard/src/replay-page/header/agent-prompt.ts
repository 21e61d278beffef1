import {
  describeValue,
  findProblems,
  formatOffset,
  ownsError,
  textOfValue,
  type Message,
  type Part,
  type Step,
} from '@playhead/model'
import { parseStack } from '../detail/stack-trace.ts'
import { ancestorsOf, type Timeline } from '../playback/timeline.ts'

const MAX_MESSAGES = 12
const MESSAGE_LENGTH = 2_000
const VALUE_LENGTH = 4_000
const STEPS_BEFORE = 10

type PromptParts = {
  conversation: readonly Message[] | undefined
  url: string | undefined
  /** See `stepsBefore`. */
  before: readonly Step[]
}

/**
 * A markdown prompt for a coding agent: the step, its input, its error and the steps before it. Recorded content is
 * untrusted, so it is fenced.
 */
export function writeAgentPrompt(
  timeline: Timeline,
  step: Step,
  { conversation, url, before }: PromptParts,
): string {
  const { session } = timeline
  const isFailure = ownsError(step) || step.error !== undefined
  const sections = [
    isFailure
      ? "A step of an AI agent failed. Find the cause in the agent's code and propose a fix."
      : 'Look at this step of an AI agent and explain what it did and why.',
    `## Session\n\n- name: ${session.name}\n- end state: ${session.endState}${session.endStateReason === undefined ? '' : ` (${session.endStateReason})`}\n- id: ${session.id}${url === undefined ? '' : `\n- replay: ${url}`}${describeTest(timeline)}`,
    describeStep(timeline, step),
    describeError(step),
    describeBefore(before),
    conversation === undefined ? '' : describeConversation(conversation),
  ]
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`
}

function describeTest({ session: { test, vcs } }: Timeline): string {
  const lines: string[] = []
  if (test?.name !== undefined)
    lines.push(`\n- test: ${[test.file, test.suite, test.name].filter(Boolean).join(' › ')}`)
  if (vcs?.commit !== undefined) lines.push(`\n- commit: ${vcs.commit}`)
  return lines.join('')
}

function describeStep(timeline: Timeline, step: Step): string {
  const path = ancestorsOf(timeline, timeline.positionOf.get(step.id) ?? -1).map(
    (above) => timeline.steps[above]!.name,
  )
  const input = step.tool?.arguments ?? step.input ?? step.inputPreview
  const output = step.tool?.result ?? step.output ?? step.outputPreview
  const problems = findProblems(step).map(
    ({ path: name, why }) => `- \`${name === '' ? 'input' : name}\`: ${why}  ← PROBLEM`,
  )
  return [
    `## Step\n\n\`${step.name}\` (${step.kind}) at ${formatOffset(step.offsetMs)}${path.length === 0 ? '' : `, inside ${path.join(' › ')}`}`,
    input === undefined ? '' : `Input:\n\n${fence(toText(input))}`,
    problems.join('\n'),
    output === undefined ? '' : `Output:\n\n${fence(toText(output))}`,
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function describeError(step: Step): string {
  if (step.error === undefined) return ''
  const lines: string[] = []
  let error: Step['error'] = step.error
  for (let depth = 0; error !== undefined && depth < 5; depth += 1) {
    lines.push(`${depth === 0 ? '' : 'caused by '}${error.type}: ${error.message}`)
    const stack = error.stack === undefined ? undefined : parseStack(error.stack)
    for (const frame of stack?.own ?? []) lines.push(`    ${frame.text}`)
    if (stack?.isParsed === false) lines.push(error.stack!.slice(0, VALUE_LENGTH))
    error = error.cause
  }
  return `## Error\n\n${fence(lines.join('\n'))}`
}

/** The steps that are quoted before one. */
export function stepsBefore({ steps }: Timeline, position: number): readonly Step[] {
  return steps.slice(Math.max(0, position - STEPS_BEFORE), position)
}

function describeBefore(before: readonly Step[]): string {
  if (before.length === 0) return ''
  const lines = before.map((earlier) => {
    const output =
      earlier.error === undefined ? earlier.outputPreview : `${earlier.error.type}: ${earlier.error.message}`
    return `${formatOffset(earlier.offsetMs)}  ${earlier.kind} ${earlier.name}${earlier.inputPreview === undefined ? '' : `(${describeValue(earlier.inputPreview, 120)})`}${output === undefined ? '' : ` → ${describeValue(output, 160)}`}`
  })
  return `## Steps before it\n\n${fence(lines.join('\n'))}`
}

function describeConversation(messages: readonly Message[]): string {
  const shown = messages.slice(-MAX_MESSAGES)
  const left = messages.length - shown.length
  const blocks = shown.map(
    (message) => `**${message.role}**\n\n${fence(message.parts.map(partText).join('\n'))}`,
  )
  const omitted = left === 0 ? '' : `(${left} earlier messages omitted)\n\n`
  return `## Conversation as the model saw it\n\n${omitted}${blocks.join('\n\n')}`
}

function partText(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return cut(part.text, MESSAGE_LENGTH)
    case 'reasoning':
      return cut(part.text ?? '', MESSAGE_LENGTH)
    case 'tool-call':
      return `calls ${part.name}(${describeValue(part.arguments, MESSAGE_LENGTH)})`
    case 'tool-result':
      return `result${part.name === undefined ? '' : ` of ${part.name}`}: ${cut(toText(part.result), MESSAGE_LENGTH)}`
    case 'media':
      return `[${part.modality}]`
    default:
      return cut(toText(part.raw), MESSAGE_LENGTH)
  }
}

function toText(value: unknown): string {
  return cut(textOfValue(value), VALUE_LENGTH)
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}… (${text.length - length} more characters)`
}

/** A code fence longer than any fence inside. */
function fence(text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`{3,}/g), ([ticks]) => ticks.length))
  const ticks = '`'.repeat(longest + 1)
  return `${ticks}\n${text}\n${ticks}`
}
