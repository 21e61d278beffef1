import type { Message, Part } from '../session/message.ts'
import { describeValue, oneLine, visibleText } from '../format/visible-text.ts'
import { argumentsOf, findProblems, type ArgumentProblem } from '../session/problem.ts'
import { modelReply } from '../session/step-input-output.ts'
import type { Step } from '../session/step.ts'

export const PROBLEM_MARK = '   ← PROBLEM'

/** The origin of the argument at a path, in words. */
export type OriginOf = (path: string) => string | undefined

/** The input of a step, one printable line each: the arguments of actions by name, with suspicious ones marked. */
export function describeInput(step: Step, width: number, originOf?: OriginOf): string[] {
  if (step.kind !== 'action') {
    const input = step.inputPreview ?? sentText(step) ?? step.retrieval?.query ?? step.input
    return input === undefined ? [] : [describeRecorded(input, width)]
  }
  const known = withArguments(step)
  const isCut = known !== step && step.inputPreview?.endsWith('…') === true
  const problems = findProblems(known).filter(({ value }) => value !== undefined || !isCut)
  const given = argumentsOf(known)
  if (given === undefined && problems.length === 0) return []
  if (problems.length > 0) return markProblems(given, problems, { width, originOf })
  return isEmpty(given) ? [] : [describeArguments(given, width)]
}

/** The output of a step, one printable line each: the text of a model's turn, then the tools that it called. */
export function describeOutput(step: Step, width: number): string[] {
  if (step.kind === 'llm' && step.messages !== undefined) {
    const turn = describeTurn(step, width)
    if (turn.length > 0) return turn
  }
  const output =
    step.kind === 'action'
      ? resultOf(step)
      : (step.outputPreview ?? answeredText(step) ?? step.output ?? foundDocuments(step))
  return output === undefined ? [] : [describeRecorded(output, width)]
}

const MAX_CALLS = 8

function describeTurn(step: Step, width: number): string[] {
  const { text, calls } = modelReply(step)
  const lines = text.trim() === '' ? [] : [describeRecorded(text, width)]
  for (const { name, arguments: given } of calls.slice(0, MAX_CALLS)) {
    const call = `→ ${visibleText(name)}(`
    lines.push(
      oneLine(`${call}${given === undefined ? '' : describeArguments(given, width)}`, width - 1) + ')',
    )
  }
  if (calls.length > MAX_CALLS) lines.push(`→ ${calls.length - MAX_CALLS} more calls`)
  return lines
}

export function resultOf(step: Step): unknown {
  const result = step.tool?.result === undefined ? step.output : step.tool.result
  return result === undefined ? step.outputPreview : result
}

/** Quotes texts, except JSON that was recorded as text. */
function describeRecorded(value: unknown, width: number): string {
  if (typeof value !== 'string' || !looksLikeJson(value)) return describeValue(value, width)
  return oneLine(value, width)
}

/** True also for tool calls as previews write them: `→ name(…)`. */
function looksLikeJson(text: string): boolean {
  return /^\s*([[{"]|→ )/.test(text)
}

/** Parses the arguments from the preview when the payload is missing. */
function withArguments(step: Step): Step {
  const { tool, input, inputPreview } = step
  if (tool?.arguments !== undefined || input !== undefined || inputPreview === undefined) return step
  return { ...step, input: readPreview(inputPreview) }
}

/** Previews write arguments as `name=value, name=value`, texts without quotes. */
function readPreview(preview: string): unknown {
  if (!/^[A-Za-z_][\w.-]*=/.test(preview)) return preview
  const pairs = preview.split(/, (?=[A-Za-z_][\w.-]*=)/).map((pair): [string, unknown] => {
    const equals = pair.indexOf('=')
    return [pair.slice(0, equals), readScalar(pair.slice(equals + 1))]
  })
  return Object.fromEntries(pairs)
}

function readScalar(text: string): unknown {
  if (text === 'undefined') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function describeArguments(given: unknown, width: number): string {
  if (typeof given !== 'object' || given === null) return describeRecorded(given, width)
  const shown: string[] = []
  let used = 0
  for (const [name, value] of Object.entries(given)) {
    if (used > width) break
    const text = describeArgument(isPosition(given, name) ? undefined : name, value, width)
    used += text.length + 2
    shown.push(text)
  }
  return oneLine(shown.join(', '), width)
}

function describeArgument(name: string | undefined, value: unknown, width: number): string {
  const prefix = name === undefined ? '' : `${visibleText(name)}=`
  return prefix + describeValue(value, Math.max(8, width - prefix.length))
}

function isEmpty(given: unknown): boolean {
  return typeof given === 'object' && given !== null && Object.keys(given).length === 0
}

function isPosition(given: object, name: string): boolean {
  return Array.isArray(given) || /^\d+$/.test(name)
}

/** One argument per line. Problems inside an argument, and missing arguments, get their own line. */
function markProblems(
  given: unknown,
  problems: readonly ArgumentProblem[],
  { width, originOf }: { width: number; originOf: OriginOf | undefined },
): string[] {
  const room = width - PROBLEM_MARK.length
  const markOf = (path: string) =>
    [PROBLEM_MARK, originOf?.(path)].filter((part) => part !== undefined).join(' ')
  const left = new Map(problems.map((problem) => [problem.path, problem]))
  const lines: string[] = []
  const entries = typeof given === 'object' && given !== null ? Object.entries(given) : []
  for (const [name, value] of entries) {
    const path = Array.isArray(given) ? `[${name}]` : name
    const line = describeArgument(isPosition(given!, name) ? undefined : name, value, room)
    lines.push(left.delete(path) ? line + markOf(path) : line)
  }
  if (entries.length === 0 && given !== undefined && given !== null && typeof given !== 'object')
    lines.push(describeRecorded(given, width))
  for (const { path, value } of left.values()) {
    const missing = value === undefined ? `${visibleText(path)} is missing` : undefined
    lines.push((missing ?? describeArgument(path || undefined, value, room)) + markOf(path))
  }
  return lines
}

function sentText(step: Step): string | undefined {
  const sent = step.messages?.filter((message) => message.isOutput !== true)
  const asked = sent?.findLast((message) => message.role === 'user') ?? sent?.at(-1)
  return asked === undefined ? undefined : textOf(asked)
}

function answeredText(step: Step): string | undefined {
  const answer = step.messages?.find((message) => message.isOutput === true)
  return answer === undefined ? undefined : textOf(answer)
}

/** A message as one text, with tool calls written as code. */
export function textOf(message: Message): string {
  return message.parts
    .map(partText)
    .filter((text) => text !== '')
    .join('\n')
}

function partText(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text
    case 'reasoning':
      return ''
    case 'tool-call':
      return `${part.name}(${part.arguments === undefined ? '' : describeValue(part.arguments, 200)})`
    case 'tool-result':
      return typeof part.result === 'string' ? part.result : describeValue(part.result, 200)
    case 'media':
      return `[${part.modality}]`
    default:
      return ''
  }
}

function foundDocuments(step: Step): string | undefined {
  const count = step.retrieval?.documents?.length
  if (count === undefined) return undefined
  return count === 1 ? '1 document' : `${count} documents`
}
