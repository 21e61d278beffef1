import { isRecord, type JsonObject } from '../json/attribute-value.ts'
import type { Message, ToolDefinition } from '../session/message.ts'
import type { Step } from '../session/step.ts'
import { readMeaning } from './meaning.ts'
import type { ConnectionFailure } from './rebuild-response.ts'
import type { ActionEntry, ModelEntry, TapeEntry } from './tape-entry.ts'

/** The version of the format. */
export const CASSETTE_VERSION = 1

/** What a run asked and what it was answered, in a file that belongs to a test. */
export type Cassette = { meta: CassetteMeta; entries: CassetteEntry[] }

export type CassetteMeta = {
  name: string
  /** The name of the agent in the config. */
  agent?: string
  input?: unknown
  recordedAt: string
  /** The version of Playhead that recorded it. */
  playhead: string
  /** The ids of the sessions that it was made from. */
  sessions: string[]
}

export type CassetteEntry = CassetteModelCall | CassetteAction

export type CassetteModelCall = {
  kind: 'model'
  /** `openai-chat`, `anthropic-messages`, …: the form of the answer. */
  api: string
  path: string
  asked: CassetteQuestion
  answer: CassetteAnswer
}

export type CassetteQuestion = {
  model?: string
  parameters?: Record<string, unknown>
  tools?: ToolDefinition[]
  messages: Message[]
}

/**
 * Events are `[milliseconds since the request, text of one whole event]`. `isAborted`: the client stopped reading, or
 * `failure` broke the connection.
 */
export type CassetteAnswer =
  | { status: number; headers: Record<string, string>; body: unknown }
  | {
      status: number
      headers: Record<string, string>
      events: CassetteEvent[]
      isAborted?: true
      failure?: ConnectionFailure
    }
  | { error: ConnectionFailure }

export type CassetteEvent = [atMs: number, text: string]

/** An action without `result` and `error` returned undefined; a container runs again. */
export type CassetteAction = {
  kind: 'action'
  name: string
  arguments?: unknown
  shape?: string
  /** The values of the result that are not plain JSON, by their path. */
  types?: unknown
  result?: unknown
  error?: CassetteError
  isContainer?: true
  /** Why its result is not here: a sentence. */
  notServable?: string
}

/** `fields` are further fields of the error. */
export type CassetteError = {
  type: string
  message: string
  code?: unknown
  fields?: Record<string, unknown>
  cause?: unknown
  errors?: unknown
}

/** A line of a cassette that can't be read. */
export type CassetteProblem = { line: number; sentence: string }

/** A cassette as far as its lines can be read. */
export type ParsedCassette = {
  meta: CassetteMeta | undefined
  messages: { line: number; message: Message }[]
  entries: { line: number; entry: CassetteEntry }[]
  problems: CassetteProblem[]
}

/** Reads a cassette. Throws a sentence with the number of the line if one can't be read. */
export function readCassette(text: string): Cassette {
  const { meta, entries, problems } = parseCassette(text)
  const [problem] = problems
  if (problem !== undefined) throw new Error(`Line ${problem.line} of the cassette ${problem.sentence}`)
  return { meta: meta!, entries: entries.map(({ entry }) => entry) }
}

export function parseCassette(text: string): ParsedCassette {
  const parsed: ParsedCassette = { meta: undefined, messages: [], entries: [], problems: [] }
  const messages = new Map<number, Message>()
  for (const [index, content] of text.split('\n').entries()) {
    if (content.trim() === '') continue
    try {
      readLine(JSON.parse(content), { line: index + 1, parsed, messages })
    } catch (error) {
      const sentence = error instanceof LineError ? error.message : 'is not JSON.'
      parsed.problems.push({ line: index + 1, sentence })
    }
  }
  if (parsed.meta === undefined && parsed.problems.length === 0)
    parsed.problems.push({ line: 1, sentence: NO_META })
  return parsed
}

class LineError extends Error {}

const NO_META = 'is no {"v":1,"kind":"meta",…}, so this is not a cassette.'

function readLine(
  value: unknown,
  { line, parsed, messages }: { line: number; parsed: ParsedCassette; messages: Map<number, Message> },
): void {
  const fields: JsonObject = isRecord(value) ? value : {}
  if (parsed.meta === undefined) parsed.meta = readMeta(fields)
  else if (fields.kind === 'message') {
    const { id, message } = fields
    if (typeof id !== 'number' || !isRecord(message) || !Array.isArray(message.parts))
      throw new LineError('is a message without an id, a role or parts.')
    messages.set(id, message as Message)
    parsed.messages.push({ line, message: message as Message })
  } else if (fields.kind === 'model') parsed.entries.push({ line, entry: readModelCall(fields, messages) })
  else if (fields.kind === 'action') parsed.entries.push({ line, entry: readAction(fields) })
  else throw new LineError('is no message, model call or action.')
}

function readMeta({ v, kind, ...meta }: JsonObject): CassetteMeta {
  if (kind !== 'meta') throw new LineError(NO_META)
  if (v !== CASSETTE_VERSION)
    throw new LineError(
      `has version ${String(v)}; this Playhead reads version ${CASSETTE_VERSION}. Update it.`,
    )
  return { name: '', recordedAt: '', playhead: '', sessions: [], ...meta }
}

function readModelCall(fields: JsonObject, messages: ReadonlyMap<number, Message>): CassetteModelCall {
  const { asked, answer } = fields
  if (!isRecord(asked) || !Array.isArray(asked.messages))
    throw new LineError('is a model call without a question.')
  if (!isRecord(answer)) throw new LineError('is a model call without an answer.')
  const sent = asked.messages.map((id) => {
    const message = messages.get(id as number)
    if (message === undefined) throw new LineError(`refers to message ${String(id)}, which is not above it.`)
    return message
  })
  return {
    kind: 'model',
    api: String(fields.api),
    path: String(fields.path),
    asked: { ...asked, messages: sent },
    answer: answer as CassetteAnswer,
  }
}

function readAction(fields: JsonObject): CassetteAction {
  if (typeof fields.name !== 'string') throw new LineError('is an action without a name.')
  return fields as CassetteAction
}

/** The entries in the form that a tape looks them up. */
export function entriesOfCassette({ entries }: Cassette): TapeEntry[] {
  return entries.map((entry, index) =>
    entry.kind === 'model' ? toModelEntry(entry, index + 1) : toActionEntry(entry, index + 1),
  )
}

function toModelEntry({ api, asked, answer }: CassetteModelCall, number: number): ModelEntry {
  const { model, parameters, tools, messages } = asked
  const step: Step = {
    ...stepBase(number, model ?? api),
    kind: 'llm',
    messages,
    ...(model !== undefined && { model }),
    ...(parameters !== undefined && { parameters }),
    ...(tools !== undefined && { toolDefinitions: tools }),
  }
  return { kind: 'model', step, number, isUsed: false, asked: readMeaning(step), exact: { api, answer } }
}

function toActionEntry(action: CassetteAction, number: number): ActionEntry {
  const { name, shape, types, result, error, isContainer = false, notServable } = action
  const step: Step = {
    ...stepBase(number, name),
    kind: 'action',
    tool: { name, arguments: action.arguments },
    ...(error !== undefined && { status: 'error', error: { type: error.type, message: error.message } }),
    attributes: {
      ...(result !== undefined && { 'playhead.action.result': JSON.stringify(result) }),
      ...(shape !== undefined && { 'playhead.action.shape': shape }),
      ...(types !== undefined && { 'playhead.action.types': JSON.stringify(types) }),
      ...(error !== undefined && { 'playhead.step.error': JSON.stringify(recordedForm(error)) }),
    },
  }
  return {
    kind: 'action',
    step,
    number,
    isUsed: false,
    name,
    arguments: action.arguments,
    isContainer,
    ...(notServable !== undefined && { notServable }),
  }
}

/** As the recorder writes errors. */
function recordedForm({ code, fields, ...error }: CassetteError): unknown {
  return { ...error, fields: { ...fields, ...(code !== undefined && { code }) } }
}

function stepBase(number: number, name: string): Omit<Step, 'kind'> {
  const at = new Date(0).toISOString()
  return {
    id: number.toString(16).padStart(16, '0'),
    parentId: null,
    name,
    startedAt: at,
    endedAt: at,
    offsetMs: 0,
    durationMs: 0,
    status: 'ok',
    hasPayload: true,
    cost: null,
    dialect: 'playhead',
  }
}

const MAX_NAME_LENGTH = 100

/** The name of a test as that of a file, on every system; without the extension. */
export function cassetteFileName(name: string): string {
  const safe = name.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').replaceAll(/^[-.]+|[-.]+$/g, '')
  return safe === '' ? 'test' : safe.slice(0, MAX_NAME_LENGTH)
}
