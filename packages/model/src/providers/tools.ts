import { firstText, isRecord, type JsonObject } from '../json/attribute-value.ts'
import { parseJson } from '../json/json-text.ts'
import type { ToolDefinition } from '../session/message.ts'

/** The tools that a request offers, in any provider's or framework's shape: a list, or an object by name. */
export function readTools(list: unknown): ToolDefinition[] {
  if (isRecord(list)) return readTools(Object.entries(list).map(([name, tool]) => withName(name, tool)))
  return Array.isArray(list) ? list.flatMap((item) => readTool(parseJson(item))) : []
}

function withName(name: string, tool: unknown): unknown {
  return isRecord(tool) ? { name, ...tool } : name
}

/** Mastra lists names only. Gemini puts several declarations into one tool and names its own tools by their key. */
function readTool(raw: unknown): ToolDefinition[] {
  if (typeof raw === 'string') return raw === '' ? [] : [{ name: raw }]
  if (!isRecord(raw)) return []
  const declarations = raw.function_declarations ?? raw.functionDeclarations
  if (Array.isArray(declarations)) return declarations.filter(isRecord).map(toDefinition)
  const inner = raw.function ?? raw.custom ?? raw.toolSpec ?? raw.tool
  const definition = toDefinition(isRecord(inner) ? { type: raw.type, ...inner } : raw)
  const isNamedByKey = definition.name === '' && Object.keys(definition).length === 1
  return isNamedByKey ? Object.keys(raw).map((name) => ({ name, type: name })) : [definition]
}

function toDefinition(raw: JsonObject): ToolDefinition {
  const definition: ToolDefinition = { name: firstText(raw.name, raw.id, raw.type) ?? '' }
  const description = firstText(raw.description)
  if (description !== undefined) definition.description = description
  const parameters =
    raw.parameters ??
    raw.inputSchema ??
    raw.input_schema ??
    raw.parameters_json_schema ??
    raw.parametersJsonSchema ??
    raw.arguments
  if (parameters !== undefined && parameters !== null) definition.parameters = parseJson(parameters)
  const type = firstText(raw.type)
  if (type !== undefined) definition.type = type
  return definition
}
