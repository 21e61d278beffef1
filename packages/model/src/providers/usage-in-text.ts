import type { JsonObject } from '../json/attribute-value.ts'

/** A usage object is short; longer text is something else. */
const MAX_LENGTH = 4000
const MAX_FOUND = 8

/** The name of a usage object and its opening bracket: `"usage": {`, `usage=CompletionUsage(`, `\"token_usage\":{`. */
const opening =
  /(?:^|[^\w])(?:usage|raw_usage|usage_?metadata|usageMetadata|token_?usage|tokenUsage|usage_details|usage_object)\\*["']?\s*[:=]\s*(?:[A-Za-z_][\w.]*)?[({]/g

/** A name with a number or an opening bracket, or a bracket alone. */
const item =
  /([A-Za-z_]\w*)\\*["']?\s*[:=]\s*(?:(\d+(?:\.\d+)?)(?![\w.])|(?:[A-Za-z_][\w.]*)?([({]))?|([({])|([)}])/g

/**
 * Finds usage objects in a text that is JSON, JSON in JSON, or the repr of a Python object, without parsing the rest of
 * it. Only numbers and nested objects are read.
 */
export function findUsageInText(text: string): JsonObject[] {
  const found: JsonObject[] = []
  opening.lastIndex = 0
  while (found.length < MAX_FOUND && opening.exec(text) !== null) {
    found.push(readNumbers(text, opening.lastIndex))
  }
  return found
}

/** Reads a text that is one usage object as a whole: `{'prompt_tokens': 110}`, `Usage(input_tokens=110)`. */
export function readUsageText(text: string): JsonObject | undefined {
  const start = /^\s*(?:[A-Za-z_][\w.]*)?[({]/.exec(text.slice(0, 200))
  if (start !== null) return readNumbers(text, start[0].length)
  // Pydantic prints its fields without the name of the class: `prompt_tokens=110 completion_tokens=31`.
  return /^\s*[A-Za-z_]\w*=/.test(text) ? readNumbers(text, 0) : undefined
}

function readNumbers(text: string, start: number): JsonObject {
  const open: JsonObject[] = [{}]
  const limit = start + MAX_LENGTH
  item.lastIndex = start
  for (let match = item.exec(text); match !== null && match.index < limit; match = item.exec(text)) {
    const [, name, number, nested, bracket, closing] = match
    const current = open.at(-1)!
    if (closing !== undefined) {
      if (open.length === 1) break
      open.pop()
    } else if (bracket !== undefined) open.push({})
    else if (nested !== undefined) {
      const inner: JsonObject = {}
      if (name !== '__proto__') current[name!] ??= inner
      open.push(inner)
    } else if (number !== undefined && name !== '__proto__') current[name!] ??= Number(number)
  }
  return open[0]!
}
