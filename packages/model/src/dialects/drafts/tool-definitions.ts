import type { ToolDefinition } from '../../session/message.ts'
import { isRecord } from '../../json/attribute-value.ts'
import type { SpanReading } from '../reading/dialect.ts'
import { unflattenList } from '../reading/flattened-keys.ts'
import { parseJson } from '../../json/json-text.ts'
import { invocationOf } from '../reading/payload.ts'
import { readTools } from '../../providers/tools.ts'
import { readJson } from '../reading/read-json.ts'

/** The tools that the model could call. */
export function toolDefinitionsOfSpan(reading: SpanReading): ToolDefinition[] | undefined {
  const { fields, groups } = reading
  const listed = readTools(readJson(reading, fields.toolDefinitions))
  if (listed.length > 0) return listed
  const schemas = readTools(unflattenList(groups.toolSchemas).map(schemaOf))
  if (schemas.length > 0) return schemas
  const functions = readTools(unflattenList(groups.functions))
  if (functions.length > 0) return functions
  const request = parseJson(fields.llmRequest)
  const config = isRecord(request) && isRecord(request.config) ? request.config : request
  const requested = readTools(isRecord(config) ? config.tools : undefined)
  if (requested.length > 0) return requested
  const invocation = invocationOf(reading)
  const invoked = readTools(
    isRecord(invocation) ? (invocation.tools ?? invocation.function_tools) : undefined,
  )
  return invoked.length > 0 ? invoked : undefined
}

function schemaOf(item: unknown): unknown {
  const tool = isRecord(item) && isRecord(item.tool) ? item.tool : item
  return isRecord(tool) ? parseJson(tool.json_schema ?? tool) : tool
}
