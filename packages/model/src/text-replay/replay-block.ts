import { describeCost, formatCount } from '../format/format-number.ts'
import { formatDuration, formatOffset } from '../format/format-time.ts'
import { oneLine, textOfValue, visibleLines, visibleText } from '../format/visible-text.ts'
import { describeAbort } from '../session/aborted-stream.ts'
import { isOutputUnknown, NO_OUTPUT, NO_USAGE } from '../session/calls-without-usage.ts'
import { ownsError } from '../session/failure.ts'
import { argumentsOf } from '../session/problem.ts'
import { isEmptyValue } from '../provenance/value-index.ts'
import { describeOrigin } from '../provenance/describe-origin.ts'
import type { ArgumentTracer } from '../provenance/trace-arguments.ts'
import {
  describeInput,
  describeOutput,
  PROBLEM_MARK,
  resultOf,
  textOf,
  type OriginOf,
} from './replay-content.ts'
import {
  stepName,
  type Step,
  type StepChange,
  type StepError,
  type StepKind,
  type StepSource,
} from '../session/step.ts'

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow'

export type Painter = (style: Style, text: string) => string

const codes: Record<Style, [on: number, off: number]> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
}

export function createPainter(isColoured: boolean): Painter {
  if (!isColoured) return (_style, text) => text
  return (style, text) => `\u001B[${codes[style][0]}m${text}\u001B[${codes[style][1]}m`
}

export type BlockOptions = {
  paint: Painter
  /** Infinity shows everything. */
  width: number
  /** It only contains other steps, which are shown themselves. */
  isWrapper: boolean
  /** It is a model call, and nobody reported its tokens. */
  hasNoUsage: boolean
  place: Place
  trace: ArgumentTracer
}

/** Where a step stands: its number, the first is 1; how deep it is nested; its parent, unless the nesting shows it. */
export type Place = { number: number; depth: number; parentNumber?: number }

const MAX_SHOWN_DEPTH = 8

/** Renders one step of the text replay: time, title and number, and below them input, output, usage and error. */
export function renderStep(step: Step, options: BlockOptions): string {
  const { paint, place } = options
  const clock = formatOffset(step.offsetMs)
  const nesting = '  '.repeat(Math.min(place.depth, MAX_SHOWN_DEPTH))
  const indent = ' '.repeat(clock.length + 2) + nesting
  const title = `${paint('bold', titleOf(step))}  ${paint('dim', numberOf(place))}`
  const lines = [`${paint('dim', clock)}  ${nesting}${title}${stateOf(step, paint)}`]
  const isFull = options.width === Infinity
  const body = isFull ? fullBody(step, options) : shortBody(step, options, indent.length)
  for (const line of body) lines.push(indent + line)
  return lines.join('\n')
}

const titles: Record<StepKind, string> = {
  llm: 'LLM Call',
  embedding: 'Embedding',
  action: 'Action',
  agent: 'Agent',
  retrieval: 'Retrieval',
  guardrail: 'Guardrail',
  handoff: 'Handoff',
  evaluator: 'Evaluator',
  workflow: 'Workflow',
  event: 'Event',
  other: 'Step',
}

function titleOf(step: Step): string {
  const title = titles[step.kind]
  if (step.kind === 'llm' || step.kind === 'embedding')
    return `${title} (${visibleText(step.model ?? step.requestedModel ?? step.name)})`
  const { from, to } = step.handoff ?? {}
  const name = step.kind === 'handoff' && to !== undefined ? `${from ?? '?'} → ${to}` : stepName(step)
  return `${title}: ${visibleText(name)}`
}

function numberOf({ number, parentNumber }: Place): string {
  return parentNumber === undefined ? `#${number}` : `#${number} in #${parentNumber}`
}

const sourceStates: Record<StepSource, string> = {
  tape: 'from the tape',
  stub: 'stubbed',
  live: 'live',
}

function stateOf(step: Step, paint: Painter): string {
  const states: string[] = []
  if (step.status === 'running') states.push('… running')
  if (step.guardrail?.isTriggered === true) states.push('triggered')
  if (step.isInferred === true) states.push('inferred from the conversation')
  if (step.source !== undefined) states.push(sourceStates[step.source])
  return states.map((state) => `  ${paint('yellow', state)}`).join('')
}

/** The origin of a bad value, unless it first appears here. */
function createOriginOf(step: Step, trace: ArgumentTracer): OriginOf {
  return (path) => {
    const found = trace(step).find((origin) => origin.path === path)
    return found === undefined || found.origin.kind === 'nowhere' ? undefined : describeOrigin(found)
  }
}

function shortBody(
  step: Step,
  { paint, width, isWrapper, hasNoUsage, trace }: BlockOptions,
  indent: number,
): string[] {
  const room = Math.max(20, width - indent)
  const isTold = step.kind === 'handoff' && step.handoff?.to !== undefined
  const isOneLine = isTold || (isWrapper && step.kind !== 'action' && step.kind !== 'retrieval')
  const lines = isOneLine
    ? []
    : labelled('Input: ', describeInput(step, room - 7, createOriginOf(step, trace)), paint)
  if (!isOneLine) lines.push(...labelled('Output: ', describeOutput(step, room - 8), paint))
  const abort = describeAbort(step)
  if (abort !== undefined) lines.push(paint('yellow', abort))
  const usage = isOneLine ? [] : usageOf(step, hasNoUsage)
  if (usage.length > 0) lines.push(usage.join(' | '))
  if (ownsError(step))
    for (const [label, error] of errorChain(step.error))
      lines.push(paint('red', `${label}: ${oneLine(describeError(error), room - label.length - 2)}`))
  for (const change of step.changes ?? []) lines.push(paint('yellow', oneLine(describeChange(change), room)))
  return lines
}

const MAX_CAUSES = 6

/** The error and its causes, without those that only repeat the text above them. */
function errorChain(error: StepError | undefined): [label: string, error: StepError | undefined][] {
  const chain: [string, StepError | undefined][] = [['Error', error]]
  let above = describeError(error)
  for (let cause = error?.cause; cause !== undefined && chain.length <= MAX_CAUSES; cause = cause.cause) {
    const text = describeError(cause)
    if (text !== above) chain.push(['Caused by', cause])
    above = text
  }
  return chain
}

function labelled(label: string, texts: readonly string[], paint: Painter): string[] {
  return texts.map((text, index) => {
    const mark = text.lastIndexOf(PROBLEM_MARK)
    const marked = mark < 0 ? text : text.slice(0, mark) + paint('red', text.slice(mark))
    return (index === 0 ? label : ' '.repeat(label.length)) + marked
  })
}

function describeError(error: StepError | undefined): string {
  if (error === undefined) return 'no message'
  const { type, message, isHandled } = error
  const text = [type, message].filter((part) => part !== '').join(': ') || 'no message'
  // Avoids "Error: Error: …" and "ValueError: ValueError: …".
  const once = type === 'Error' || message.startsWith(`${type}:`) ? message || type : text
  return isHandled === true ? `${once} (handled)` : once
}

function fullBody(step: Step, { paint, hasNoUsage, trace }: BlockOptions): string[] {
  const lines = factsOf(step, hasNoUsage)
  const problems = describeInput(step, 1000, createOriginOf(step, trace)).filter((line) =>
    line.includes(PROBLEM_MARK),
  )
  for (const message of step.messages ?? [])
    lines.push(
      ...section(
        message.isOutput === true ? 'Output' : `Input (${visibleText(message.role)})`,
        textOf(message),
      ),
    )
  if (step.messages === undefined) {
    const input = argumentsOf(step) === undefined ? step.inputPreview : argumentsOf(step)
    const output = resultOf(step)
    if (input !== undefined) lines.push(...section('Input', input), ...originLines(step, trace))
    if (output !== undefined) lines.push(...section('Output', output))
  }
  const abort = describeAbort(step)
  if (abort !== undefined) lines.push(paint('yellow', abort))
  lines.push(...labelled('Problem: ', problems, paint))
  if (step.error !== undefined)
    for (const [label, error] of errorChain(step.error)) {
      const [first = '', ...rest] = linesOf(describeError(error))
      lines.push(paint('red', `${label}: ${first}`), ...rest.map((line) => paint('red', `  ${line}`)))
      for (const line of linesOf(error?.stack ?? '')) if (line.trim() !== '') lines.push(`  ${line}`)
    }
  for (const change of step.changes ?? []) lines.push(paint('yellow', visibleText(describeChange(change))))
  return lines
}

function describeChange({ fields, isRewrite = false }: StepChange): string {
  const told = fields.map(({ field, was, sent }) => `${field} was ${was}, sent ${sent || 'nothing'}`)
  return `Changed after it ended (${isRewrite ? 'replaced' : 'kept as it was'}): ${told.join('; ')}`
}

function originLines(step: Step, trace: ArgumentTracer): string[] {
  return trace(step).flatMap((found) => {
    const origin = isEmptyValue(found.value) ? undefined : describeOrigin(found)
    return origin === undefined ? [] : [`  ${visibleText(found.path || 'input')} ← ${origin}`]
  })
}

function factsOf(step: Step, hasNoUsage: boolean): string[] {
  const duration = step.durationMs === null ? [] : [`Duration: ${formatDuration(step.durationMs)}`]
  const facts = [...duration, ...usageOf(step, hasNoUsage)]
  return facts.length > 0 ? [facts.join(' | ')] : []
}

/** "Tokens: 400 in (300 cached), 200 out", "First token: 350ms", "Cost: $0.003": as far as they are known. */
function usageOf(step: Step, hasNoUsage: boolean): string[] {
  const { input, output, cacheRead, cacheWrite, reasoning } = step.usage ?? {}
  const facts: string[] = []
  const tokens = [
    describeTokens(input, 'in', [cacheRead, 'cached'], [cacheWrite, 'written to the cache']),
    describeTokens(output, 'out', [reasoning, 'reasoning']),
  ].filter((part) => part !== undefined)
  if (isOutputUnknown(step)) tokens.push(NO_OUTPUT)
  if (tokens.length > 0) facts.push(`Tokens: ${tokens.join(', ')}`)
  else if (hasNoUsage) facts.push(`Tokens: ${NO_USAGE}`)
  if (step.streaming?.firstTokenMs !== undefined)
    facts.push(`First token: ${formatDuration(step.streaming.firstTokenMs)}`)
  if (step.cost !== null) facts.push(`Cost: ${describeCost(step.cost, [])}`)
  return facts
}

/** "400 in (300 cached)"; parts that are 0 are left out. */
function describeTokens(
  count: number | undefined,
  word: string,
  ...parts: [count: number | undefined, word: string][]
): string | undefined {
  if (count === undefined) return undefined
  const shown = parts.filter(([part = 0]) => part > 0).map(([part, name]) => `${formatCount(part!)} ${name}`)
  return `${formatCount(count)} ${word}${shown.length === 0 ? '' : ` (${shown.join(', ')})`}`
}

function section(label: string, value: unknown): string[] {
  const lines = linesOf(textOfValue(value))
  return lines.length === 1 ? [`${label}: ${lines[0]}`] : [`${label}:`, ...lines.map((line) => `  ${line}`)]
}

function linesOf(text: string): string[] {
  return visibleLines(text.replaceAll(/\r\n?/g, '\n').replaceAll('\t', '  ')).split('\n')
}
