import { isMeaningful, isRecord } from '../../json/attribute-value.ts'
import type { SpanReading } from '../reading/dialect.ts'
import type { FlatEntry } from '../reading/flattened-keys.ts'
import { parseJson } from '../../json/json-text.ts'
import { invocationOf } from '../reading/payload.ts'
import { parameterName } from '../reading/parameter-name.ts'

/** How the model was asked: temperature, limits, choice of tools, … Undefined when nothing was said. */
export function parametersOfSpan(reading: SpanReading): Record<string, unknown> | undefined {
  const { fields, groups } = reading
  const found: Record<string, unknown> = {}
  addEntries(found, groups.parameters)
  if (fields.isStreaming !== undefined) add(found, 'stream', fields.isStreaming)
  const given = invocationOf(reading)
  if (isRecord(given)) for (const key of Object.keys(given)) add(found, key, given[key])
  addEntries(found, groups.looseParameters)
  const choice = reading.span.attributes['ai.prompt.toolChoice']
  if (choice !== undefined) add(found, 'tool_choice', parseJson(choice))
  return isMeaningful(found) ? found : undefined
}

/** Keys were given their one name when their meaning was worked out. */
function addEntries(found: Record<string, unknown>, entries: FlatEntry[] | undefined): void {
  if (entries === undefined) return
  for (const { path, value } of entries) if (isMeaningful(value)) found[path[0]!] ??= value
}

function add(found: Record<string, unknown>, key: string, value: unknown): void {
  const name = parameterName(key)
  if (name !== undefined && isMeaningful(value)) found[name] ??= value
}
