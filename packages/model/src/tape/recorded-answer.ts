import { isRecord, type JsonObject } from '../json/attribute-value.ts'
import { parseJson } from '../json/json-text.ts'
import type { Part } from '../session/message.ts'
import type { Step } from '../session/step.ts'
import type { Usage } from '../session/usage.ts'

/** What a model answered, as a recorded step tells it, in no provider's form. */
export type RecordedAnswer = {
  id: string
  model: string
  /** Seconds since 1970. */
  createdAt: number
  replies: Reply[]
  usage?: Usage
}

export type Reply = { parts: Part[]; text: string; reasoning: string; calls: ReplyCall[]; finish: Finish }

export type ReplyCall = { id: string; name: string; arguments: unknown }

/** Why a model stopped, in no provider's words. */
export type Finish = 'stop' | 'tool' | 'length' | 'filter'

export function readAnswer(step: Step): RecordedAnswer {
  const outputs = step.messages?.filter(({ isOutput }) => isOutput === true) ?? []
  const replies = outputs.map(({ parts, finishReason }) => readReply(parts, finishReason, step))
  return {
    id: step.responseId ?? `taped-${step.id}`,
    model: step.model ?? step.requestedModel ?? 'unknown',
    createdAt: Math.floor(Date.parse(step.startedAt) / 1000),
    replies: replies.length === 0 ? [readReply([], undefined, step)] : replies,
    ...(step.usage !== undefined && { usage: step.usage }),
  }
}

function readReply(parts: Part[], reason: string | undefined, step: Step): Reply {
  const calls = parts.flatMap((part, index) =>
    part.type === 'tool-call'
      ? [{ id: part.id ?? `call_${step.id}${index}`, name: part.name, arguments: parseJson(part.arguments) }]
      : [],
  )
  const finish = readFinish(reason ?? step.finishReasons?.[0])
  return {
    parts,
    text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    reasoning: parts.map((part) => (part.type === 'reasoning' ? (part.text ?? '') : '')).join(''),
    calls,
    finish: finish ?? (calls.length > 0 ? 'tool' : 'stop'),
  }
}

const finishes: [RegExp, Finish][] = [
  [/tool|function/i, 'tool'],
  [/length|max|incomplete/i, 'length'],
  [/filter|safety|refusal|block|prohibited|recitation/i, 'filter'],
  [/stop|end|complete/i, 'stop'],
]

function readFinish(reason: string | undefined): Finish | undefined {
  return reason === undefined ? undefined : finishes.find(([words]) => words.test(reason))?.[1]
}

/** The answer itself, where capture kept it. */
export function keptResponse(step: Step): JsonObject | undefined {
  const text = step.attributes?.['playhead.response']
  const body = typeof text === 'string' ? parseJson(text) : undefined
  return isRecord(body) ? body : undefined
}

/** How a provider tells an HTTP error; undefined for a call that succeeded or never got a response. */
export function recordedStatus(step: Step): number | undefined {
  const status = step.attributes?.['http.response.status_code']
  return typeof status === 'number' ? status : undefined
}

/** Arguments as models write them. */
export function argumentText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? {})
}

/** One server-sent event. */
export function sse(data: unknown, event?: string): string {
  const name = event === undefined ? '' : `event: ${event}\n`
  return `${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

/** The recorded pieces of a streamed text; the whole text where there are none. */
export function piecesOf(text: string, pieces: readonly string[]): string[] {
  if (text === '') return []
  return pieces.length > 1 && pieces.join('') === text ? [...pieces] : [text]
}

/** Cuts a text in two, so that clients have to put it together again. */
export function halves(text: string): string[] {
  const middle = Math.floor(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '')
}
