import type { StepTool } from '../../session/step.ts'
import { isMeaningful, isRecord, toText } from '../../json/attribute-value.ts'
import type { SpanReading } from '../reading/dialect.ts'
import { messagesOfEvent } from '../reading/event-messages.ts'
import { parseJson, parseJsonText } from '../../json/json-text.ts'
import { inputOf, invocationOf, outputOf, readJson, unwrapInput } from '../reading/payload.ts'
import { unwrapBlocks } from '../../providers/tool-use.ts'
import type { ToolDefinition } from '../../session/message.ts'
import { unflattenList } from '../reading/flattened-keys.ts'
import { readTools } from '../../providers/tools.ts'

/** The tool of an action, with arguments and result. */
export function toolOfSpan(reading: SpanReading): StepTool {
  const { fields, span } = reading
  const tool: StepTool = { name: toolName(reading) }
  const callId = fields.toolCallId ?? callIdOf(outputOf(reading))
  if (callId !== undefined) tool.callId = callId
  if (fields.toolType !== undefined) tool.type = fields.toolType
  if (fields.toolDescription !== undefined) tool.description = fields.toolDescription
  const fromEvents = span.events.length === 0 ? {} : payloadOfEvents(reading)
  const given = argumentsOf(reading) ?? fromEvents.arguments ?? inputOf(reading)
  if (given !== undefined && !isPlaceholder(given)) tool.arguments = given
  // Null is a result too, and OpenTelemetry can only write it as JSON.
  const isNull = fields.toolResult === 'null'
  const result = isNull ? null : (resultOf(reading) ?? fromEvents.result ?? unwrapResult(outputOf(reading)))
  if (result !== undefined && !isPlaceholder(result)) tool.result = result
  return tool
}

/** `execute_tool x`, `x.tool`, `tools/call x`: strips everything but the tool's name. */
const decoration = /^(?:execute_tool |running tool: ?|tools\/call |tool_call\.)|\.(?:tool|tool_usage)$/g

function toolName({ fields, span }: SpanReading): string {
  return fields.toolName ?? fields.entityName ?? span.name.replace(decoration, '')
}

function argumentsOf(reading: SpanReading): unknown {
  const { fields } = reading
  if (fields.toolArguments !== undefined) return unwrapInput(readJson(reading, fields.toolArguments))
  if (fields.toolParameters === undefined) return undefined
  const parameters = parseJson(fields.toolParameters)
  return isSchema(parameters) ? undefined : unwrapInput(parameters)
}

/** AgentOps writes arguments to this key, OpenInference the schema of the arguments. */
function isSchema(value: unknown): boolean {
  if (!isRecord(value)) return false
  return value.$schema !== undefined || (isRecord(value.properties) && typeof value.type === 'string')
}

function resultOf(reading: SpanReading): unknown {
  const { fields } = reading
  return fields.toolResult === undefined ? undefined : unwrapResult(readJson(reading, fields.toolResult))
}

/** Unwraps a LangChain message or a list with one text block. */
function unwrapResult(value: unknown): unknown {
  if (isRecord(value) && isRecord(value.kwargs) && value.lc !== undefined) {
    const { content, status } = value.kwargs
    const result = unwrapBlocks(parseJson(content))
    return status === 'error' ? { isError: true, content: result } : result
  }
  return unwrapBlocks(value)
}

/** A LangChain tool does not report its call id, but the message that it returns has it. */
function callIdOf(output: unknown): string | undefined {
  const message = isRecord(output) && isRecord(output.kwargs) ? output.kwargs : undefined
  return toText(message?.tool_call_id)
}

function isPlaceholder(value: unknown): boolean {
  if (typeof value === 'string') return value === 'N/A' || value === '<not specified>'
  return isRecord(value) && value.result === '<not specified>' && Object.keys(value).length === 1
}

/** Strands sends a tool's arguments and result, and Claude Code its output, as span events. */
function payloadOfEvents({ span }: SpanReading): { arguments?: unknown; result?: unknown } {
  const found: { arguments?: unknown; result?: unknown } = {}
  for (const event of span.events) {
    if (event.name === 'tool.output') found.result ??= toolOutput(event.attributes)
    else if (event.name === 'gen_ai.tool.message') found.arguments ??= parseContent(event.attributes.content)
    else if (event.name === 'gen_ai.choice') {
      found.result ??= unwrapBlocks(parseContent(event.attributes.message))
    } else if (event.name.startsWith('gen_ai.')) {
      for (const message of messagesOfEvent(event.name, event.attributes) ?? []) {
        for (const part of message.parts) {
          if (part.type === 'tool-call') found.arguments ??= part.arguments
          if (part.type === 'tool-result') found.result ??= part.result
        }
      }
    }
  }
  return found
}

function toolOutput(attributes: Record<string, unknown>): unknown {
  const output = attributes.output ?? attributes.content
  return isMeaningful(output) ? parseJson(output) : undefined
}

function parseContent(content: unknown): unknown {
  const text = toText(content)
  return text === undefined ? undefined : parseJsonText(text)
}

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
