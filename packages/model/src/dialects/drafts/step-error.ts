import type { Span, SpanEvent } from '../../otlp/span.ts'
import type { StepError } from '../../session/step.ts'
import { firstText, isRecord, toFlag, toText, type JsonObject } from '../../json/attribute-value.ts'
import type { SpanReading } from '../reading/dialect.ts'
import { someDialect } from '../reading/dialect-set.ts'
import type { Fields } from '../reading/fields.ts'
import { parseJson } from '../../json/json-text.ts'

const ERROR_CODE = 2
const MAX_CAUSES = 10

/** The error of a failed span; undefined when it succeeded. */
export function errorOfSpan(reading: SpanReading): StepError | undefined {
  const { fields, span } = reading
  const stated = parseRecordedError(parseJson(fields.stepError))
  if (stated !== undefined) return stated
  if (fields.agentsError !== undefined) return ofOpenAiAgents(fields.agentsError)
  if (!isFailed(reading)) return undefined
  const event = exceptionOf(span)
  const given = [
    event === undefined ? undefined : toText(event.attributes['exception.message']),
    span.statusCode === ERROR_CODE ? span.statusMessage : undefined,
    fields.levelMessage,
    messageField(fields),
  ]
  const type = firstText(event?.attributes['exception.type'], fields.errorType)
  const stack = toText(event?.attributes['exception.stacktrace'])
  return parseErrorMessage(firstText(...given) ?? '', type, stack)
}

function isFailed(reading: SpanReading): boolean {
  const { fields, span } = reading
  if (span.statusCode === ERROR_CODE) return true
  if (fields.level?.toUpperCase() === 'ERROR' || fields.state === 'error') return true
  if (fields.errorType !== undefined || messageField(fields) !== undefined) return true
  if (toFlag(fields.success) === false || fields.errorMessage === 'true') return true
  const status = fields.toolStatus?.toLowerCase()
  if (status === 'failed' || status === 'error') return true
  if (toFlag(fields.isToolError) === true) return true
  return exceptionOf(span) !== undefined && someDialect(reading, 'failsByException')
}

/** `error` may be a flag or a message. */
function messageField({ errorMessage }: Fields): string | undefined {
  return errorMessage === 'true' || errorMessage === 'false' ? undefined : errorMessage
}

/** The last exception, which is the one that was thrown out of the span; decorators record it twice. */
function exceptionOf(span: Span): SpanEvent | undefined {
  for (let index = span.events.length - 1; index >= 0; index--) {
    if (span.events[index]!.name === 'exception') return span.events[index]
  }
  return undefined
}

const typePrefix =
  /^((?:[A-Za-z_$][\w$.]*)?(?:Error|Exception|Warning|Interrupt|Triggered|Exceeded|Exit|Failure)): (?=\S)/
const embedded = /^(.*?): (\{.*\})$/s
/** Python prints `{'error': '…'}`. */
const printedError = /^\{(?:.*, )?'error': (['"])(.*)\1\}$/s

/** Splits a message that also contains its type, its stack or JSON. */
export function parseErrorMessage(message: string, type?: string, stack?: string): StepError {
  const whole = message.startsWith('{') ? parseJson(message) : undefined
  if (isRecord(whole) && isRecord(whole.data) && toText(whole.data.error) !== undefined)
    return describeInner(toText(whole.message) ?? '', toText(whole.data.error)!, type, stack)
  const json = embedded.exec(message)
  const inner = json === null ? undefined : parseJson(json[2])
  if (isRecord(inner) && typeof inner.error === 'string') {
    return describeInner(json![1]!, inner.error, type, stack)
  }
  const printedInner = json === null ? undefined : printedError.exec(json[2]!)?.[2]
  if (printedInner !== undefined) return describeInner(json![1]!, printedInner, type, stack)
  const { text, trace } = splitTrace(message)
  const printed = printedException.exec(text)
  if (printed !== null && (type === undefined || isGeneralType(type) || type.endsWith(printed[1]!))) {
    const isNamed = type === undefined || isGeneralType(type)
    return withStack({ type: isNamed ? printed[1]! : type, message: unescape(printed[3]!) }, stack ?? trace)
  }
  const first = text
  const named = typePrefix.exec(first)
  const isSameType = named !== null && (type === undefined || type === 'Error' || type.endsWith(named[1]!))
  const error: StepError = {
    type: (isSameType ? (type === undefined || type === 'Error' ? named[1] : type) : type) ?? 'Error',
    message: isSameType ? first.slice(named[0].length) : first,
  }
  return withStack(error, stack ?? trace)
}

const traceStart = /(?:^|\n|(?<=\)))(?=Traceback \(most recent call last\):|[ \t]*at \S[^\n]*(?:\(|:\d+))/

/** A message may have several lines; what looks like a stack trace is one. */
function splitTrace(message: string): { text: string; trace?: string } {
  const start = traceStart.exec(message)
  if (start === null) return { text: message.trimEnd() }
  const before = message.slice(0, start.index).trimEnd()
  // A stack of JavaScript begins with the error itself.
  const header = /\n[\w$.]*: ([^]*)$/.exec(before)
  const shown = header === null ? '' : before.slice(0, header.index).trimEnd()
  const text = shown !== '' && shown.endsWith(header![1]!) ? shown : before
  return text === '' ? { text: message } : { text, trace: message.slice(start.index).trim() }
}

/** `ValueError('customer_id cannot be null')`: how Python prints an exception. */
const printedException =
  /^([A-Za-z_][\w.]*(?:Error|Exception|Warning|Interrupt|Exit|Failure))\((['"])([^]*)\2,?\)$/

function isGeneralType(type: string): boolean {
  return type === 'Error' || type === 'Exception'
}

function unescape(text: string): string {
  return text.replaceAll(/\\(['"\\n])/g, (_, character: string) => (character === 'n' ? '\n' : character))
}

/** OpenAI Agents: the detail is better than "Error in agent run", unless it is redacted. */
function describeInner(outer: string, detail: string, type?: string, stack?: string): StepError {
  if (/redacted/i.test(detail))
    return withStack({ type: type ?? 'Error', message: `${outer}: ${detail}` }, stack)
  return withStack(parseErrorMessage(detail, type), stack)
}

function withStack(error: StepError, stack: string | undefined): StepError {
  if (stack !== undefined) error.stack ??= stack
  return error
}

function ofOpenAiAgents(value: unknown): StepError {
  const error = parseJson(value)
  if (!isRecord(error)) return parseErrorMessage(toText(error) ?? '')
  const message = toText(error.message) ?? ''
  const detail = isRecord(error.data) ? toText(error.data.error) : undefined
  return detail === undefined ? parseErrorMessage(message) : describeInner(message, detail)
}

/** Reads an error that our SDK recorded, with its causes. */
export function parseRecordedError(value: unknown, depth = 0): StepError | undefined {
  if (!isRecord(value))
    return typeof value === 'string' && value !== '' ? parseErrorMessage(value) : undefined
  const error: StepError = {
    type: firstText(value.type, value.name) ?? 'Error',
    message: messageIn(value),
  }
  const stack = toText(value.stack)
  if (stack !== undefined) error.stack = stack
  const cause = depth < MAX_CAUSES ? parseRecordedError(value.cause, depth + 1) : undefined
  if (cause !== undefined) error.cause = cause
  if (value.isPropagated === true) error.isPropagated = true
  if (value.isHandled === true) error.isHandled = true
  return error
}

function messageIn(value: JsonObject): string {
  return toText(value.message) ?? ''
}
