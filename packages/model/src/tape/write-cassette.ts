import { isRecord, type JsonObject } from '../json/attribute-value.ts'
import { parseJson } from '../json/json-text.ts'
import { createRedactor, type Redactor } from '../redaction/redact.ts'
import { redactJson, redactJsonText, redactResponse, redactTexts } from '../redaction/redact-json.ts'
import type { Message, Part } from '../session/message.ts'
import {
  CASSETTE_VERSION,
  type Cassette,
  type CassetteAction,
  type CassetteAnswer,
  type CassetteEntry,
  type CassetteEvent,
  type CassetteModelCall,
} from './cassette.ts'
import { apiNamed } from './model-api-names.ts'

/**
 * A cassette as text, one JSON value a line, without secrets. Messages stand before the first call that sends them and
 * are written once. Entries that are added at the end leave the lines before them as they are.
 */
export function writeCassette({ meta, entries }: Cassette, redactor: Redactor = createRedactor()): string {
  const { name, agent, input, recordedAt, playhead, sessions } = meta
  const lines: unknown[] = [
    {
      v: CASSETTE_VERSION,
      kind: 'meta',
      name: redactor.text(name, 'name'),
      ...(agent !== undefined && { agent }),
      ...(input !== undefined && { input: redactJson(input, redactor, 'input') }),
      recordedAt,
      playhead,
      sessions,
    },
  ]
  const ids = new Map<string, number>()
  for (const entry of entries.map((given) => redactEntry(given, redactor))) {
    if (entry.kind === 'action') {
      lines.push(entry)
      continue
    }
    const messages = entry.asked.messages.map((message) => {
      const text = JSON.stringify(message)
      const known = ids.get(text)
      if (known !== undefined) return known
      ids.set(text, ids.size + 1)
      lines.push({ kind: 'message', id: ids.size, message })
      return ids.size
    })
    lines.push({ ...entry, asked: { ...entry.asked, messages } })
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** The entry without secrets, its fields in the order in which they are written. */
export function redactEntry(entry: CassetteEntry, redactor: Redactor): CassetteEntry {
  return entry.kind === 'model' ? redactModelCall(entry, redactor) : redactAction(entry, redactor)
}

function redactModelCall(
  { api, path, asked, answer }: CassetteModelCall,
  redactor: Redactor,
): CassetteModelCall {
  const { model, parameters, tools, messages } = asked
  return {
    kind: 'model',
    api,
    path: redactor.text(path, 'path'),
    asked: {
      ...(model !== undefined && { model }),
      ...(parameters !== undefined && {
        parameters: redactTexts(parameters, redactor) as Record<string, unknown>,
      }),
      ...(tools !== undefined && { tools: redactTexts(tools, redactor) as NonNullable<typeof tools> }),
      messages: messages.map((message) => redactMessage(message, redactor)),
    },
    answer: redactAnswer(answer, api, redactor),
  }
}

/** The message without secrets. */
export function redactMessage({ role, name, parts }: Message, redactor: Redactor): Message {
  return {
    role,
    ...(name !== undefined && { name }),
    parts: parts.map((part) => redactPart(part, redactor)),
  }
}

/** Secret keys count only in what tools were given and returned. */
function redactPart(part: Part, redactor: Redactor): Part {
  switch (part.type) {
    case 'tool-call':
      return { ...part, arguments: redactJson(part.arguments, redactor, 'arguments') }
    case 'tool-result':
      return { ...part, result: redactJson(part.result, redactor, 'result') }
    case 'other':
      return { ...part, raw: redactJson(part.raw, redactor, 'raw') }
    case 'media':
      return part.base64 === undefined ? (redactTexts(part, redactor) as Part) : part
    case 'reasoning':
      return part.text === undefined ? part : { ...part, text: redactor.text(part.text, 'text') }
    case 'text':
    case 'refusal':
      return { ...part, text: redactor.text(part.text, 'text') }
  }
}

function redactAction(action: CassetteAction, redactor: Redactor): CassetteAction {
  const { name, arguments: given, shape, types, error, isContainer, notServable } = action
  const result = redactJson(wholeSecrets(action, redactor), redactor, 'result')
  return {
    kind: 'action',
    name,
    ...(given !== undefined && { arguments: redactJson(given, redactor, 'arguments') }),
    ...(shape !== undefined && { shape }),
    ...(types !== undefined && { types }),
    ...(result !== undefined && { result }),
    ...(error !== undefined && { error: redactJson(error, redactor, 'error') as NonNullable<typeof error> }),
    ...(isContainer === true && { isContainer }),
    ...(notServable !== undefined && { notServable }),
  }
}

/** A secret may be cut over the pieces that a generator yields; then it is one piece. */
function wholeSecrets({ shape, result }: CassetteAction, redactor: Redactor): unknown {
  if (shape?.endsWith('generator') !== true || !Array.isArray(result)) return result
  if (!result.every((piece) => typeof piece === 'string')) return result
  const whole = result.join('')
  return redactor.text(whole, 'result') === whole ? result : [whole]
}

const headerNames =
  /^(?:content-type|retry-after(?:-ms)?|x-should-retry|x?-?request-id|openai-model|(?:x|anthropic)-ratelimit-.*)$/

function redactAnswer(answer: CassetteAnswer, api: string, redactor: Redactor): CassetteAnswer {
  if ('error' in answer) return { error: redactTexts(answer.error, redactor) as typeof answer.error }
  const { status } = answer
  const headers = Object.fromEntries(
    Object.entries(answer.headers)
      .filter(([name]) => headerNames.test(name))
      .map(([name, value]) => [name, redactor.text(value, name)]),
  )
  if (!('events' in answer)) return { status, headers, body: redactResponse(answer.body, redactor) }
  const { events, isAborted, failure } = answer
  return {
    status,
    headers,
    events: redactEvents(events, api, redactor),
    ...(isAborted === true && { isAborted }),
    ...(failure !== undefined && { failure: redactTexts(failure, redactor) as typeof failure }),
  }
}

/** A stream may cut a secret into pieces that look like nothing; then the whole answer is cut anew. */
function redactEvents(events: CassetteEvent[], api: string, redactor: Redactor): CassetteEvent[] {
  const named = apiNamed(api)
  const whole = named === undefined ? undefined : assembleEvents(events, api)
  const redacted = whole === undefined ? undefined : redactResponse(whole, redactor)
  const isClean = JSON.stringify(redacted) === JSON.stringify(whole)
  if (isClean || named?.writer === undefined || !isRecord(redacted))
    return events.map(([atMs, text]) => [atMs, redactEvent(text, redactor)])
  const request = {
    url: new URL('http://localhost/?alt=sse'),
    body: { stream_options: { include_usage: true } },
  }
  const atMs = events[0]?.[0] ?? 0
  return named.writer.stream(redacted, request, []).map((text) => [atMs, text])
}

function redactEvent(text: string, redactor: Redactor): string {
  const redactData = (data: string) => redactJsonText(data, (value) => redactResponse(value, redactor))
  if (!/^data:/m.test(text)) return `${redactData(text.trimEnd())}${text.slice(text.trimEnd().length)}`
  return text.replaceAll(/^(data: ?)(.*)$/gm, (_, name: string, data: string) => name + redactData(data))
}

/** The answer that a request without streaming would have got; undefined if the events hold none. */
export function assembleEvents(events: readonly CassetteEvent[], api: string): JsonObject | undefined {
  const assembler = apiNamed(api)?.api.createAssembler()
  if (assembler === undefined) return undefined
  let isEmpty = true
  for (const [, text] of events)
    for (const event of dataOf(text)) {
      assembler.add(event)
      isEmpty = false
    }
  return isEmpty ? undefined : assembler.response()
}

/** The JSON of an event: its data, a line of JSON, or a list of both. */
function dataOf(text: string): JsonObject[] {
  const lines = text.split(/\r\n|\r|\n/)
  const data = lines.flatMap((line) => /^data: ?(.*)$/.exec(line)?.[1] ?? [])
  const texts = data.length > 0 ? [data.join('\n')] : lines
  return texts.flatMap((json) => {
    const value = parseJson(json)
    return (Array.isArray(value) ? value : [value]).filter(isRecord)
  })
}
