import { isRecord, type JsonObject } from '../../json/attribute-value.ts'
import type { SpanReading } from './dialect.ts'
import { isCutJson, parseJson } from '../../json/json-text.ts'
import { readJson } from './read-json.ts'

/** What went in, parsed once. Undefined when the span does not say. */
export function inputOf(reading: SpanReading): unknown {
  if ('input' in reading.parsed) return reading.parsed.input
  const { fields } = reading
  const raw =
    fields.input ?? fields.unindexedPrompt ?? unreadable(fields.inputMessages ?? fields.promptMessages)
  const isText = fields.inputMimeType === 'text/plain' && raw === fields.input
  return (reading.parsed.input = isText ? raw : unwrapInput(readJson(reading, raw)))
}

/** What came out, parsed once. */
export function outputOf(reading: SpanReading): unknown {
  if ('output' in reading.parsed) return reading.parsed.output
  const { fields } = reading
  const raw = fields.output ?? fields.unindexedCompletion ?? unreadable(fields.outputMessages)
  const isText = fields.outputMimeType === 'text/plain' && raw === fields.output
  return (reading.parsed.output = isText ? raw : unwrapOutput(readJson(reading, raw)))
}

/** How the model was called, parsed once. */
export function invocationOf(reading: SpanReading): unknown {
  if ('invocation' in reading.parsed) return reading.parsed.invocation
  return (reading.parsed.invocation = readJson(reading, reading.fields.invocationParameters))
}

/** Messages whose JSON was cut can't be read, but they can be shown. */
function unreadable(value: unknown): unknown {
  return typeof value === 'string' && isCutJson(value) ? value : undefined
}

/** Decorators write `{ args, kwargs }`, LangChain's callbacks `{ inputs, tags, metadata, kwargs }` or `{ input_str }`. */
export function unwrapInput(value: unknown): unknown {
  if (!isRecord(value)) return value
  if (Array.isArray(value.args) && isRecord(value.kwargs)) return unwrapCall(value.args, value.kwargs)
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

/** `{ outputs, kwargs }`, `{ output }`: LangChain's callbacks again. */
function unwrapOutput(value: unknown): unknown {
  if (!isRecord(value)) return value
  const keys = Object.keys(value)
  if (value.outputs !== undefined && keys.every((key) => key === 'outputs' || key === 'kwargs'))
    return value.outputs
  const isWrapper = value.output !== undefined && keys.every((key) => key === 'output' || key === 'kwargs')
  return isWrapper ? parseJson(value.output) : value
}
