import { isRecord, type JsonObject } from '../../json/attribute-value.ts'
import type { SpanReading } from './dialect.ts'
import { assembleEvents } from '../../providers/stream-pieces.ts'
import { isCutJson, parseJson, parseJsonOnce, parseJsonText } from '../../json/json-text.ts'

/** The input of the span, parsed once; undefined when it has none. */
export function inputOf(reading: SpanReading): unknown {
  if ('input' in reading.parsed) return reading.parsed.input
  const { fields } = reading
  const raw =
    fields.input ?? fields.unindexedPrompt ?? unreadable(fields.inputMessages ?? fields.promptMessages)
  const isText = fields.inputMimeType === 'text/plain' && raw === fields.input
  return (reading.parsed.input = isText ? raw : unwrapInput(readJson(reading, raw)))
}

/** The output of the span, parsed once. */
export function outputOf(reading: SpanReading): unknown {
  if ('output' in reading.parsed) return reading.parsed.output
  const { fields } = reading
  const raw = fields.output ?? fields.unindexedCompletion ?? unreadable(fields.outputMessages)
  const isText = fields.outputMimeType === 'text/plain' && raw === fields.output
  // Our SDK writes JSON, so text in it is what was returned.
  const parse = fields.stepKind === undefined ? parseJsonText : parseJsonOnce
  return (reading.parsed.output = isText ? raw : assembleEvents(unwrapOutput(readJson(reading, raw, parse))))
}

/** The invocation parameters, parsed once. */
export function invocationOf(reading: SpanReading): unknown {
  if ('invocation' in reading.parsed) return reading.parsed.invocation
  return (reading.parsed.invocation = readJson(reading, reading.fields.invocationParameters))
}

/** Messages whose JSON was cut cannot be parsed, but can be shown as text. */
function unreadable(value: unknown): unknown {
  return typeof value === 'string' && isCutJson(value) ? value : undefined
}

/**
 * Unwraps `{ args, kwargs }` of decorators, `{ kwargs }` of LlamaIndex and DSPy, `{ input_args }` of DSPy, and
 * `{ inputs, tags, metadata, kwargs }` or `{ input_str }` of LangChain.
 */
export function unwrapInput(value: unknown): unknown {
  if (!isRecord(value)) return value
  const isAlone = Object.keys(value).length === 1
  if (isRecord(value.kwargs) && (isAlone || Array.isArray(value.args)))
    return unwrapCall(Array.isArray(value.args) ? value.args : [], value.kwargs)
  if (isAlone && isRecord(value.input_args)) return value.input_args
  if (value.input_str !== undefined) return parseJson(value.input_str)
  const isCallback = value.inputs !== undefined && (value.tags !== undefined || value.kwargs !== undefined)
  return isCallback ? value.inputs : value
}

function unwrapCall(args: unknown[], kwargs: JsonObject): unknown {
  const names = Object.keys(kwargs)
  if (args.length === 0) return names.length === 0 ? undefined : kwargs
  if (names.length > 0) return { args, kwargs }
  return args.length === 1 ? args[0] : args
}

/** Unwraps `{ outputs, kwargs }` and `{ output }` of LangChain's callbacks. */
export function unwrapOutput(value: unknown): unknown {
  if (!isRecord(value)) return value
  const keys = Object.keys(value)
  if (value.outputs !== undefined && keys.every((key) => key === 'outputs' || key === 'kwargs'))
    return value.outputs
  const isWrapper = value.output !== undefined && keys.every((key) => key === 'output' || key === 'kwargs')
  return isWrapper ? parseJson(value.output) : value
}

/** Notes when an attribute limit cut the JSON of an attribute, as `readJson` does, without parsing it. */
export function noteCut(reading: SpanReading, value: unknown): void {
  if (typeof value === 'string' && isCutJson(value)) reading.isTruncated = true
}

/** Parses an attribute that may be JSON, and notes when an attribute limit cut it. */
export function readJson(reading: SpanReading, value: unknown, parse = parseJsonText): unknown {
  if (typeof value !== 'string') return value
  const parsed = parse(value)
  if (parsed === value && isCutJson(value)) reading.isTruncated = true
  return parsed
}
