import type { ToolDefinition } from '../../session/message.ts'
import { firstText, isRecord, type JsonObject } from '../../json/attribute-value.ts'
import type { Reading } from '../reading/dialect.ts'
import { unflattenList } from '../reading/flattened-keys.ts'
import { parseJson } from '../../json/json-text.ts'
import { invocationOf } from '../reading/payload.ts'
import { readJson } from '../reading/read-json.ts'

/** The tools that the model could call. */
export function toolDefinitionsOfSpan(reading: Reading): ToolDefinition[] | undefined {
  const { fields, groups } = reading
  const listed = readList(readJson(reading, fields.toolDefinitions))
  if (listed.length > 0) return listed
  const schemas = readList(unflattenList(groups.toolSchemas).map(schemaOf))
  if (schemas.length > 0) return schemas
  const functions = readList(unflattenList(groups.functions))
  if (functions.length > 0) return functions
  const request = parseJson(fields.llmRequest)
  const config = isRecord(request) && isRecord(request.config) ? request.config : request
  const requested = readList(isRecord(config) ? config.tools : undefined)
  if (requested.length > 0) return requested
  const invocation = invocationOf(reading)
  const invoked = readList(isRecord(invocation) ? (invocation.tools ?? invocation.function_tools) : undefined)
  return invoked.length > 0 ? invoked : undefined
}

function schemaOf(item: unknown): unknown {
  const tool = isRecord(item) && isRecord(item.tool) ? item.tool : item
  return isRecord(tool) ? parseJson(tool.json_schema ?? tool) : tool
}

function readList(list: unknown): ToolDefinition[] {
  if (isRecord(list)) return readList(Object.entries(list).map(([name, tool]) => withName(name, tool)))
  if (!Array.isArray(list)) return []
  return list.flatMap((item) => readOne(parseJson(item)))
}

function withName(name: string, tool: unknown): unknown {
  return isRecord(tool) ? { name, ...tool } : name
}

/** Mastra lists names only, Gemini several declarations in one tool. */
function readOne(raw: unknown): ToolDefinition[] {
  if (typeof raw === 'string') return raw === '' ? [] : [{ name: raw }]
  if (!isRecord(raw)) return []
  const declarations = raw.function_declarations ?? raw.functionDeclarations
  if (Array.isArray(declarations)) return declarations.filter(isRecord).map(toDefinition)
  const inner = raw.function ?? raw.toolSpec ?? raw.tool
  return [toDefinition(isRecord(inner) ? { type: raw.type, ...inner } : raw)]
}

function toDefinition(raw: JsonObject): ToolDefinition {
  const definition: ToolDefinition = { name: firstText(raw.name, raw.id, raw.type) ?? '' }
  const description = firstText(raw.description)
  if (description !== undefined) definition.description = description
  const parameters =
    raw.parameters ?? raw.inputSchema ?? raw.input_schema ?? raw.parameters_json_schema ?? raw.arguments
  if (parameters !== undefined && parameters !== null) definition.parameters = parseJson(parameters)
  const type = firstText(raw.type)
  if (type !== undefined) definition.type = type
  return definition
}
