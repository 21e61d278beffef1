import { isRecord, toObject } from '../json/attribute-value.ts'
import { parseJson } from '../json/json-text.ts'
import type { Session } from '../session/session.ts'
import type { Step } from '../session/step.ts'
import type {
  Cassette,
  CassetteAction,
  CassetteAnswer,
  CassetteError,
  CassetteEvent,
  CassetteMeta,
  CassetteModelCall,
} from './cassette.ts'
import { readMeaning } from './meaning.ts'
import { planAction, type Replay } from './action-rules.ts'
import { apiOfAnswer, type NamedApi } from './model-api-names.ts'
import { connectionFailure, rebuildBody, streamBody } from './rebuild-response.ts'
import { keptResponse, recordedStatus } from './recorded-answer.ts'
import { whyNotServable } from './tape-gaps.ts'
import { recordedTypes } from './value-types.ts'
import { chatWriter } from './write-openai-chat.ts'
import {
  readEntries,
  recordedResult,
  type ActionEntry,
  type ModelEntry,
  type TapeEntry,
} from './tape-entry.ts'

/**
 * A cassette of recorded sessions of one input. The first wins where several were asked the same; what a later one has
 * beyond it is added, so that a run may take the way of any of them.
 */
export function sessionsToCassette(
  sessions: readonly Session[],
  meta: Omit<CassetteMeta, 'sessions'>,
): Cassette {
  const seen = new Set<string>()
  const entries = sessions.flatMap((session) => {
    const counts = new Map<string, number>()
    const isNew = (entry: TapeEntry) => {
      const text = describeExchange(entry)
      const count = (counts.get(text) ?? 0) + 1
      counts.set(text, count)
      const key = `${count} ${text}`
      return !seen.has(key) && seen.add(key) !== undefined
    }
    return readEntries(session)
      .filter(isNew)
      .map((entry) => (entry.kind === 'model' ? toModelCall(entry) : toCassetteAction(entry)))
  })
  return { meta: { ...meta, sessions: sessions.map(({ session }) => session.id) }, entries }
}

/** Question and answer without the ids, times and counts in which two equal runs differ. */
function describeExchange(entry: TapeEntry): string {
  if (entry.kind === 'action') return JSON.stringify(toCassetteAction(entry))
  const { step } = entry
  const messages = step.messages?.map(({ isOutput: _, ...message }) => message) ?? []
  return JSON.stringify([readMeaning({ ...step, messages }), recordedStatus(step), step.error?.type])
}

function toModelCall({ step }: ModelEntry): CassetteModelCall {
  const kept = keptResponse(step)
  const named = apiOfAnswer(kept, step)
  const { parameters = {}, toolDefinitions, messages = [] } = step
  const { stream: _, ...settings } = parameters
  const model = step.requestedModel ?? step.model
  return {
    kind: 'model',
    api: named.name,
    path: named.path,
    asked: {
      ...(model !== undefined && { model }),
      ...(Object.keys(settings).length > 0 && { parameters: settings }),
      ...(toolDefinitions !== undefined && { tools: toolDefinitions }),
      messages: messages
        .filter(({ isOutput }) => isOutput !== true)
        .map(({ role, name, parts }) => ({ role, ...(name !== undefined && { name }), parts })),
    },
    answer: toAnswer(step, named),
  }
}

function toAnswer(step: Step, { api, writer }: NamedApi): CassetteAnswer {
  const { error } = step
  const status = recordedStatus(step) ?? (step.status === 'error' ? undefined : 200)
  if (status === undefined) return { error: connectionFailure(step) }
  const json = { 'content-type': 'application/json' }
  if (status >= 400) {
    const { type = '', message = '' } = error ?? {}
    return { status, headers: json, body: (writer ?? chatWriter).writeError({ type, message, status }) }
  }
  if (writer === undefined) return { status, headers: json, body: keptResponse(step) ?? {} }
  const body = rebuildBody(step, { api, writer }, request)
  const isStreamed = step.streaming !== undefined || step.parameters?.stream === true
  if (!isStreamed) return { status, headers: json, body }
  const { chunks, ...end } = streamBody(body, { step, writer, request })
  return {
    status,
    headers: { 'content-type': writer.streamType(request) },
    events: timed(chunks, step.streaming?.chunks ?? []),
    ...end,
  }
}

/** What nobody recorded of the request: usage and events are what most clients ask for. */
const request = {
  url: new URL('http://localhost/?alt=sse'),
  body: { stream_options: { include_usage: true } },
}

/** Events with the recorded times of their text. */
function timed(events: readonly string[], chunks: readonly [number, string][]): CassetteEvent[] {
  let next = 0
  return events.map((text) => {
    const chunk = chunks[next]
    if (chunk !== undefined && text.includes(JSON.stringify(chunk[1]))) next += 1
    return [Math.round(chunks[Math.max(0, next - 1)]?.[0] ?? 0), text]
  })
}

/** An action as a cassette has it; `replay` is what the code declares. */
export function toCassetteAction(
  { step, name, arguments: given, isContainer }: ActionEntry,
  replay?: Replay,
): CassetteAction {
  const { attributes = {}, effect } = step
  const shape = attributes['playhead.action.shape']
  const types = recordedTypes(step)
  const runs = planAction({ name, effect, replay }, { isLive: false, isContainer }, {}) === 'run'
  const notServable = runs ? undefined : whyNotServable(step)
  return {
    kind: 'action',
    name,
    ...(given !== undefined && { arguments: given }),
    ...(typeof shape === 'string' && { shape }),
    ...(Object.keys(types).length > 0 && { types }),
    ...(runs ? { isContainer: true } : notServable === undefined ? outcomeOf(step) : { notServable }),
  }
}

function outcomeOf(step: Step): Pick<CassetteAction, 'result' | 'error'> {
  if (step.status !== 'error') return resultOf(step)
  const shape = step.attributes?.['playhead.action.shape']
  const hasYielded = shape === 'generator' || shape === 'async-generator'
  return { ...(hasYielded && resultOf(step)), error: errorOf(step) }
}

function errorOf({ error, attributes }: Step): CassetteError {
  const { type = 'Error', message = '' } = error ?? {}
  const { fields, cause, errors } = toObject(parseJson(attributes?.['playhead.step.error']))
  const { code, ...others } = toObject(fields)
  return {
    type,
    message,
    ...(code !== undefined && { code }),
    ...(Object.keys(others).length > 0 && { fields: others }),
    ...(cause !== undefined && { cause: withoutStack(cause) }),
    ...(Array.isArray(errors) && { errors: errors.map(withoutStack) }),
  }
}

/** Stacks name the folders of the machine that recorded them. */
function withoutStack(error: unknown): unknown {
  if (!isRecord(error)) return error
  const { stack: _, cause, errors, ...rest } = error
  return {
    ...rest,
    ...(cause !== undefined && { cause: withoutStack(cause) }),
    ...(Array.isArray(errors) && { errors: errors.map(withoutStack) }),
  }
}

/** Text that came in pieces is a list of them. */
function resultOf(step: Step): { result?: unknown } {
  const result = recordedResult(step)
  const pieces = step.streaming?.chunks?.map(([, text]) => text)
  if (pieces !== undefined && pieces.join('') === result) return { result: pieces }
  return result === undefined ? {} : { result }
}
