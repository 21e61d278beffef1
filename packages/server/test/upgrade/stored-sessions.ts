import { createHash } from 'node:crypto'
import type { Session, SessionSummary } from '@playhead/model'
import { tracesPayload, type SpanOptions } from '../otlp.ts'

const SPANS_PER_SESSION = 20
const SESSIONS_PER_REQUEST = 10
/** Of so many sessions, one is read whole. */
const WHOLE_EVERY = 40

/** What a server shows of its sessions: the figures of each, and the steps of some. */
export type Everything = { sessions: Map<string, string>; steps: Map<string, string> }

/** Sends sessions that are the same for the same numbers. */
export async function sendSessions(
  url: string,
  { first, spans }: { first: number; spans: number },
): Promise<{ sessions: number; spans: number }> {
  const sessions = Math.ceil(spans / SPANS_PER_SESSION)
  for (let start = 0; start < sessions; start += SESSIONS_PER_REQUEST) {
    const numbers = Array.from(
      { length: Math.min(SESSIONS_PER_REQUEST, sessions - start) },
      (_, index) => first + start + index,
    )
    const response = await fetch(`${url}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(tracesPayload(numbers.flatMap(session))),
    })
    if (!response.ok) throw new Error(`POST /v1/traces: ${response.status} ${await response.text()}`)
  }
  return { sessions, spans: sessions * SPANS_PER_SESSION }
}

/** A run of an agent with model calls, tools, an error in some, and words that can be searched for. */
function session(number: number): SpanOptions[] {
  const traceId = id(`session ${number}`, 32)
  const startMs = Date.UTC(2026, 9, 1) + number * 1_000
  const rootId = id(`root ${number}`, 16)
  const isFailed = number % 7 === 0
  const root: SpanOptions = {
    traceId,
    spanId: rootId,
    name: `agent ${number % 5}`,
    startMs,
    endMs: startMs + 900,
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'playhead.session.tags': [`tag-${number % 3}`] },
    ...(isFailed && { status: { code: 2, message: `failed at ${number % 11}` } }),
  }
  const steps = Array.from({ length: SPANS_PER_SESSION - 1 }, (_, index): SpanOptions => {
    const common = {
      traceId,
      spanId: id(`step ${number} ${index}`, 16),
      parentSpanId: rootId,
      startMs: startMs + index * 10,
      endMs: startMs + index * 10 + 9,
    }
    return index % 2 === 0
      ? { ...common, name: 'chat', attributes: modelCall(number, index) }
      : { ...common, name: 'lookup', attributes: toolCall(number, index) }
  })
  return [root, ...steps]
}

function modelCall(number: number, index: number): Record<string, unknown> {
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.response.id': `response-${number}-${index}`,
    'gen_ai.usage.input_tokens': 100 + (number % 50),
    'gen_ai.usage.output_tokens': 10 + index,
    'gen_ai.input.messages': JSON.stringify([
      { role: 'user', parts: [{ type: 'text', content: `question ${number} about word${number % 97}` }] },
    ]),
    'gen_ai.output.messages': JSON.stringify([
      { role: 'assistant', parts: [{ type: 'text', content: `answer ${index} ünïcode ✓` }] },
    ]),
  }
}

function toolCall(number: number, index: number): Record<string, unknown> {
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': `lookup_${index % 3}`,
    'gen_ai.tool.call.arguments': JSON.stringify({ id: number, index }),
    'gen_ai.tool.call.result': JSON.stringify({ found: index % 5 !== 0 }),
  }
}

function id(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits)
}

export async function readEverything(url: string): Promise<Everything> {
  const everything: Everything = { sessions: new Map(), steps: new Map() }
  for (let cursor = ''; ;) {
    const page = await read<{ sessions: SessionSummary[]; nextCursor?: string }>(
      `${url}/api/sessions?limit=1000${cursor}`,
    )
    for (const summary of page.sessions) everything.sessions.set(summary.id, figures(summary))
    if (page.nextCursor === undefined) break
    cursor = `&cursor=${page.nextCursor}`
  }
  for (const sessionId of [...everything.sessions.keys()].toSorted()) {
    if (Number.parseInt(sessionId.slice(0, 8), 16) % WHOLE_EVERY !== 0) continue
    const { steps } = await read<Session>(`${url}/api/sessions/${sessionId}?payloads=all`)
    everything.steps.set(sessionId, JSON.stringify(steps.map(describeStep)))
  }
  return everything
}

/** The figures that have the same meaning in every version. */
function figures(summary: SessionSummary): string {
  const { name, startedAt, endState, stepCount, llmCallCount, actionCount, usage, cost, tags } = summary
  return JSON.stringify({
    name,
    startedAt,
    endState,
    stepCount,
    llmCallCount,
    actionCount,
    usage,
    cost,
    tags,
  })
}

function describeStep(step: Session['steps'][number]) {
  const { id: stepId, parentId, kind, name, status, startedAt, endedAt, cost, usage, tool, messages } = step
  return { stepId, parentId, kind, name, status, startedAt, endedAt, cost, usage, tool, messages }
}

/** What is missing from `after`, or different there. */
export function describeDifferences(before: Everything, after: Everything): string[] {
  const differences: string[] = []
  for (const part of ['sessions', 'steps'] as const)
    for (const [key, shown] of before[part]) {
      const now = after[part].get(key)
      if (now !== shown)
        differences.push(
          `${key}: ${now === undefined ? 'missing' : `${part} ${now.slice(0, 300)}`}, was ${shown.slice(0, 300)}`,
        )
    }
  return differences
}

async function read<Answer>(address: string): Promise<Answer> {
  const response = await fetch(address)
  if (!response.ok) throw new Error(`GET ${address}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Answer
}
