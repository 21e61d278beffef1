import { describeEndState, type EndState } from '../session/end-state.ts'
import { describeCost } from '../format/format-number.ts'
import { formatDuration, formatOffset } from '../format/format-time.ts'
import { createArgumentTracer, type ArgumentTracer } from '../provenance/trace-arguments.ts'
import { oneLine, visibleText } from '../format/visible-text.ts'
import { createPainter, renderStep, type Painter, type Place } from './replay-block.ts'
import {
  describeMissingUsage,
  findCallsWithoutUsage,
  findMissingCosts,
} from '../session/calls-without-usage.ts'
import { ownsError } from '../session/failure.ts'
import { shortSessionId, type Session, type SessionSummary } from '../session/session.ts'
import { describeRerun } from '../session/rerun.ts'
import { showScore } from '../session/score.ts'
import { buildStepTree } from '../session/step-tree.ts'
import { endOffsetMs, type Step } from '../session/step.ts'

export type TextReplayOptions = {
  /** Colours for a terminal; none by default. */
  color?: boolean
  /** Characters in a line; 100 by default. */
  width?: number
  /** Shows this step alone, in full; the first is 1. */
  step?: number
  /** Shows failed steps only. */
  errorsOnly?: boolean
  /** What went wrong, in sentences, the most likely first. */
  suspects?: readonly string[]
}

/** Renders a session as text for a terminal or a build log. */
export function renderTextReplay(session: Session, options: TextReplayOptions = {}): string {
  const paint = createPainter(options.color === true)
  if (options.step !== undefined)
    return `${renderHeader(session, paint)}\n\n${renderOneStep(session, options.step, paint)}\n`
  const { header, steps, end } = renderReplayParts(session, options)
  const none = options.errorsOnly === true ? 'No step failed.' : 'No steps were recorded.'
  const blocks = steps.length === 0 ? [none] : steps.map(({ text }) => text)
  return `${[header, ...renderSuspects(options.suspects ?? [], paint), ...blocks, end].join('\n\n')}\n`
}

function renderSuspects(suspects: readonly string[], paint: Painter): string[] {
  if (suspects.length === 0) return []
  const lines = suspects.map((sentence, index) => `  ${index + 1}. ${visibleText(sentence)}`)
  return [[paint('bold', 'What went wrong:'), ...lines].join('\n')]
}

/** The parts of the replay as text, to print them as they arrive. */
export function renderReplayParts(
  session: Session,
  options: Omit<TextReplayOptions, 'step'> = {},
): { header: string; steps: { step: Step; text: string }[]; end: string } {
  const paint = createPainter(options.color === true)
  return {
    header: renderHeader(session, paint),
    steps: renderSteps(session, options, paint),
    end: renderEnd(session, paint),
  }
}

function renderHeader(whole: Session, paint: Painter): string {
  const { session, steps } = whole
  const length = session.durationMs ?? lengthSoFar(steps)
  const duration = session.durationMs === null ? `${formatDuration(length)} so far` : formatDuration(length)
  const status = paint(colourOf(session.endState), describeEndState(session.endState))
  const { unpricedModels, callsWithoutUsage, callsWithoutOutput } = findMissingCosts(whole)
  const noUsage = describeMissingUsage({
    ...(callsWithoutUsage.length > 0 && { modelsWithoutUsage: [] }),
    ...(callsWithoutOutput.length > 0 && { modelsWithoutOutput: [] }),
  })
  const cost = describeCost(session.cost, unpricedModels.map(visibleText), noUsage)
  const id = paint('bold', shortSessionId(visibleText(session.id)))
  const header = `Session: ${id} | Duration: ${duration} | Cost: ${cost} | Status: ${status}`
  return [header, describeOwnRerun(session), describeScores(session)]
    .filter((line) => line !== undefined)
    .join('\n')
}

/** "Scores: helpful 0.8 | verdict wrong (the refund is missing)". */
function describeScores({ scores = [] }: SessionSummary): string | undefined {
  if (scores.length === 0) return undefined
  const shown = scores.map(({ name, value, comment }) => {
    const note = comment === undefined ? '' : ` (${oneLine(comment, 120)})`
    return `${visibleText(name)} ${visibleText(showScore(value))}${note}`
  })
  return `Scores: ${shown.join(' | ')}`
}

/** "Fork of s_1a2b3c4d | From step: 00f067aa0ba902b7 | Edit: {"result":"c_42"}". */
function describeOwnRerun(session: SessionSummary): string | undefined {
  const rerun = describeRerun(session)
  if (rerun === undefined) return undefined
  const { parentStepId, edit } = session
  const parts = [visibleText(rerun[0]!.toUpperCase() + rerun.slice(1))]
  if (parentStepId !== undefined) parts.push(`From step: ${visibleText(parentStepId)}`)
  if (edit !== undefined) parts.push(`Edit: ${oneLine(JSON.stringify(edit), 200)}`)
  return parts.join(' | ')
}

function renderSteps(
  { session, steps }: Session,
  options: TextReplayOptions,
  paint: Painter,
): { step: Step; text: string }[] {
  const width = options.width ?? 100
  const family = createFamily(session, steps)
  const trace = createLazyTracer(steps)
  const isShown = (step: Step) => ownsError(step) || (options.errorsOnly !== true && !family.isDetail(step))
  const places = findPlaces(steps, isShown)
  const withoutUsage = new Set(findCallsWithoutUsage(steps))
  return steps.filter(isShown).map((step) => ({
    step,
    text: renderStep(step, {
      paint,
      width,
      isWrapper: family.isWrapper(step),
      hasNoUsage: withoutUsage.has(step),
      place: places.get(step.id)!,
      trace,
    }),
  }))
}

/** Where each shown step stands, by id. The nesting cannot show a parent that another branch interrupts. */
function findPlaces(steps: readonly Step[], isShown: (step: Step) => boolean): Map<string, Place> {
  const numbers = new Map(steps.map(({ id }, index) => [id, index + 1]))
  const nested = nestShown(steps, isShown)
  const places = new Map<string, Place>()
  const path: string[] = []
  for (const [index, { id }] of steps.entries()) {
    const found = nested.get(id)
    if (found === undefined) continue
    const { depth, parentId } = found
    const isInterrupted = parentId !== undefined && path[depth - 1] !== parentId
    places.set(id, {
      number: index + 1,
      depth,
      ...(isInterrupted && { parentNumber: numbers.get(parentId)! }),
    })
    path.length = depth
    path.push(id)
  }
  return places
}

/** Nests each shown step in its nearest ancestor that is shown. */
function nestShown(
  steps: readonly Step[],
  isShown: (step: Step) => boolean,
): Map<string, { depth: number; parentId: string | undefined }> {
  const nested = new Map<string, { depth: number; parentId: string | undefined }>()
  const open = buildStepTree(steps).map((branch) => ({
    branch,
    depth: 0,
    parentId: undefined as string | undefined,
  }))
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { branch, depth, parentId } = next
    const isListed = isShown(branch.step)
    if (isListed) nested.set(branch.step.id, { depth, parentId })
    const below = isListed ? { depth: depth + 1, parentId: branch.step.id } : { depth, parentId }
    for (const child of branch.children) open.push({ branch: child, ...below })
  }
  return nested
}

type Family = {
  /** True when the steps inside it say everything that it would. */
  isWrapper(step: Step): boolean
  /** True for the session's root, for duplicates of a call that is shown, and for chunks and stages of a call. */
  isDetail(step: Step): boolean
}

function createFamily(session: SessionSummary, steps: readonly Step[]): Family {
  const kinds = new Map(steps.map((step) => [step.id, step.kind]))
  const parents = new Set(steps.map((step) => step.parentId))
  const isRepeated = (step: Step) => step.parentId !== null && kinds.get(step.parentId) === step.kind
  const parentsOfTheirKind = new Set(steps.filter(isRepeated).map((step) => step.parentId))
  const shownResponses = new Set(
    steps.filter((step) => step.usageScope !== 'duplicate').map((step) => step.responseId),
  )
  return {
    isWrapper: (step) =>
      step.kind === 'llm' || step.kind === 'embedding'
        ? parentsOfTheirKind.has(step.id)
        : parents.has(step.id),
    isDetail: (step) => {
      if (step.kind === 'workflow' && step.parentId === null && step.name === session.name)
        return parents.has(step.id) && !saysMore(step)
      if (step.usageScope === 'duplicate')
        return step.responseId !== undefined && shownResponses.has(step.responseId)
      const parentKind = step.parentId === null ? undefined : kinds.get(step.parentId)
      return step.kind === 'event' && (parentKind === 'llm' || parentKind === 'action')
    },
  }
}

/** The input that a session declares is what its first steps were asked. */
function saysMore({ input, output, attributes }: Step): boolean {
  const isDeclared = attributes?.['playhead.session.input'] !== undefined
  return (input !== undefined && !isDeclared) || output !== undefined
}

function renderOneStep({ steps }: Session, position: number, paint: Painter): string {
  const step = steps[position - 1]
  if (step === undefined)
    return `There is no step ${position}: the session has ${steps.length} ${steps.length === 1 ? 'step' : 'steps'}.`
  const place = { number: position, depth: 0 }
  return renderStep(step, {
    paint,
    width: Infinity,
    isWrapper: false,
    hasNoUsage: findCallsWithoutUsage(steps).includes(step),
    place,
    trace: createLazyTracer(steps),
  })
}

/** Creates the tracer only when a step needs it. */
function createLazyTracer(steps: readonly Step[]): ArgumentTracer {
  let tracer: ArgumentTracer | undefined
  return (action) => {
    tracer ??= createArgumentTracer(steps)
    return tracer(action)
  }
}

function renderEnd({ session, steps }: Session, paint: Painter): string {
  const fatal = session.endState === 'fail' ? findFatal(steps) : undefined
  const atMs = fatal === undefined ? (session.durationMs ?? lengthSoFar(steps)) : endOffsetMs(fatal)
  const clock = formatOffset(atMs)
  const end = paint(colourOf(session.endState), describeEnd(session, fatal))
  if (fatal === undefined) return `${paint('dim', clock)}  ${end}`
  const type = visibleText(fatal.error?.type || 'Error')
  return `${paint('dim', clock)}  ${paint('red', `Exception: ${type}`)}\n${' '.repeat(clock.length + 2)}${end}`
}

function describeEnd(session: SessionSummary, fatal: Step | undefined): string {
  if (session.endState === 'running') return 'Session is still running'
  if (session.endState === 'lost') return 'Session lost: it never ended, and no more data arrived'
  const word = `Session ended: ${describeEndState(session.endState)}`
  const reason = session.endStateReason
  if (reason === undefined || reason === fatal?.error?.message) return word
  return `${word} (${oneLine(reason, 200)})`
}

/** The step whose error ended the session: the last unhandled one. */
function findFatal(steps: readonly Step[]): Step | undefined {
  let fatal: Step | undefined
  for (const step of steps) {
    if (!ownsError(step) || step.error?.isHandled === true) continue
    if (fatal === undefined || endOffsetMs(step) >= endOffsetMs(fatal)) fatal = step
  }
  return fatal
}

function lengthSoFar(steps: readonly Step[]): number {
  let length = 0
  for (const step of steps) length = Math.max(length, endOffsetMs(step))
  return length
}

export function colourOf(endState: EndState): 'green' | 'red' | 'yellow' {
  if (endState === 'success') return 'green'
  return endState === 'fail' ? 'red' : 'yellow'
}
