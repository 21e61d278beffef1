import { readdirSync, readFileSync } from 'node:fs'
import {
  asOneSession,
  assembleSession,
  describeTrace,
  joinTraces,
  priceStep,
  spanToStep,
  type Session,
  type Span,
  type StepContent,
  type StepOutline,
} from '@playhead/model'
import { createPricer } from '@playhead/model/prices'
import { decodeOpenAiAgents } from '../src/ingest/http/decode-openai-agents.ts'
import { decodeTraces } from '../src/ingest/http/decode-otlp.ts'
import type { KnownDuplicates } from '../src/sessions/duplicate-calls.ts'
import { RecentCalls } from '../src/sessions/recent-calls.ts'

const folder = new URL('../../../fixtures/emitters/', import.meta.url)

/** What a run of an emitter used and did, whichever sessions it was sent in. */
export type RunFacts = {
  calls: number
  usage: { input: number; output: number; cacheRead: number; cacheWrite: number }
  cost: number | null
  tools: { name: string; arguments: unknown; result: unknown }[]
  endState: string
  /** What the sessions are listed with, each once. */
  previews: string[]
}

/** One fact that is not shown as it was, because the emitter does not send it. */
export type Difference = { shown: unknown; why: string }

export type EmitterRun = {
  emitter: string
  variant: string
  requests: string[]
  /** What the model server was asked and answered. */
  truth: RunFacts
  differences: { [Fact in keyof RunFacts]?: Difference }
}

type TruthFile = { variants: Record<string, RunFacts & { requests: string[] }> }

/** Every recorded run of every emitter. */
export function emitterRuns(): EmitterRun[] {
  const emitters = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return emitters
    .map(({ name }) => name)
    .sort()
    .flatMap((emitter) => {
      const { variants } = readJson(`${emitter}/truth.json`) as TruthFile
      const differences = readJson(`${emitter}/differences.json`) as Record<string, EmitterRun['differences']>
      return Object.entries(variants).map(([variant, { requests, ...truth }]) => ({
        emitter,
        variant,
        requests,
        truth,
        differences: differences[variant] ?? {},
      }))
    })
}

/** The spans of a run, in the order in which they were sent. */
export function spansOfRun({ emitter, requests }: Pick<EmitterRun, 'emitter' | 'requests'>): Span[] {
  return requests.flatMap((file) => {
    const body = readFileSync(new URL(`${emitter}/${file}`, folder))
    const { items, rejected } = file.endsWith('.json')
      ? decodeOpenAiAgents(body, 0n)
      : decodeTraces(body, 'protobuf')
    if (rejected.length > 0)
      throw new Error(`${emitter}/${file}: ${rejected[0]!.item}, ${rejected[0]!.reason}`)
    return items
  })
}

/** The sessions of a run as the server shows them a minute later, earliest first. `change` may change the outlines. */
export function sessionsOfRun(
  run: Pick<EmitterRun, 'emitter' | 'requests'>,
  change?: (outlines: StepOutline[]) => void,
): Session[] {
  return sessionsOfSpans(spansOfRun(run), change)
}

export function sessionsOfSpans(
  spans: readonly Span[],
  change?: (outlines: StepOutline[]) => void,
): Session[] {
  const pricer = createPricer()
  const drafts = spans.map((span) => {
    const draft = spanToStep(span)
    priceStep(draft.outline, pricer)
    return draft
  })
  change?.(drafts.map(({ outline }) => outline))
  type Gathered = { outlines: StepOutline[]; contents: Map<string, StepContent> }
  const sessions = new Map<string, Gathered>()
  const sessionOf = sessionOfTraces(drafts.map(({ outline }) => outline))
  for (const { outline, content } of drafts) {
    const id = sessionOf(outline.sessionId)
    const session: Gathered = sessions.get(id) ?? { outlines: [], contents: new Map() }
    sessions.set(id, session)
    session.outlines.push(outline)
    session.contents.set(outline.id, content)
  }
  const duplicates = duplicatesOf(drafts.map(({ outline }) => outline))
  const lastMs = Math.max(...drafts.map(({ outline }) => outline.endedAtMs ?? outline.startedAtMs))
  return [...sessions]
    .map(([id, { outlines, contents }]) =>
      assembleSession({
        outlines: asOneSession(id, outlines),
        contents,
        ...duplicates.get(id),
        pricer,
        nowMs: lastMs + 60_000,
        lastHeardAtMs: lastMs,
      }),
    )
    .sort((left, right) => (left.session.startedAt < right.session.startedAt ? -1 : 1))
}

function sessionOfTraces(outlines: readonly StepOutline[]): (traceId: string) => string {
  const traces = Map.groupBy(outlines, ({ sessionId }) => sessionId)
  const joined = joinTraces([...traces].map(([id, steps]) => describeTrace(id, steps)))
  return (traceId) => joined.get(traceId) ?? traceId
}

/** What the server knows after the last verdict about the calls that sessions have in common. */
function duplicatesOf(outlines: readonly StepOutline[]): Map<string, KnownDuplicates> {
  const recent = new RecentCalls(() => 0)
  const known = new Map<string, KnownDuplicates>()
  for (const outline of outlines) {
    for (const { call, otherSessionId, isDuplicate, takesFigures } of recent.compare('default', outline)) {
      const own = known.get(call.sessionId) ?? { duplicateSteps: new Set(), reportsElsewhere: [] }
      known.set(call.sessionId, own)
      if (isDuplicate) own.duplicateSteps.add(call.id)
      else own.duplicateSteps.delete(call.id)
      if (takesFigures === true)
        own.reportsElsewhere.push(
          ...outlines.filter(({ sessionId, parentId }) => sessionId === otherSessionId && parentId === null),
        )
    }
  }
  return known
}

/** What the sessions of a run say. */
export function factsOf(sessions: readonly Session[]): RunFacts {
  const heads = sessions.map(({ session }) => session)
  const sum = (count: (head: (typeof heads)[number]) => number | null | undefined) =>
    heads.reduce((total, head) => total + (count(head) ?? 0), 0)
  const cost = sum((head) => head.cost)
  const actions = sessions.flatMap(({ steps }) => steps).filter((step) => step.kind === 'action')
  const endStates = new Set(heads.map((head) => head.endState))
  return {
    calls: sum((head) => head.llmCallCount),
    usage: {
      input: sum((head) => head.usage.input),
      output: sum((head) => head.usage.output),
      cacheRead: sum((head) => head.usage.cacheRead),
      cacheWrite: sum((head) => head.usage.cacheWrite),
    },
    cost: heads.every((head) => head.cost === null) ? null : Math.round(cost * 1e12) / 1e12,
    tools: actions
      .map((step) => ({
        name: step.tool?.name ?? step.name,
        arguments: step.input ?? null,
        result: step.status === 'ok' ? (step.output ?? null) : null,
      }))
      .sort((left, right) => (sortKey(left) < sortKey(right) ? -1 : 1)),
    endState: [...endStates].sort().join(', '),
    previews: [...new Set(heads.flatMap(({ inputPreview }) => inputPreview ?? []))],
  }
}

/** Tools that run in parallel start in any order. */
function sortKey(tool: RunFacts['tools'][number]): string {
  return `${tool.name} ${JSON.stringify(tool.arguments)}`
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(new URL(file, folder), 'utf8'))
}
