import type { StepTool } from '../../session/step.ts'
import { firstText, isMeaningful, isRecord, toText, type JsonObject } from '../../json/attribute-value.ts'
import type { SpanReading } from '../reading/dialect.ts'
import { messagesOfEvent } from '../reading/event-messages.ts'
import { parseJson, parseJsonOnce, parseJsonText } from '../../json/json-text.ts'
import { parsePrintedFields, parsePythonRepr } from '../../json/python-repr.ts'
import { inputOf, invocationOf, outputOf, readJson, unwrapInput, unwrapOutput } from '../reading/payload.ts'
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
  const given = readPrinted(argumentsOf(reading) ?? fromEvents.arguments ?? inputOf(reading))
  if (given !== undefined && !isPlaceholder(given)) tool.arguments = given
  // Null is a result too, and OpenTelemetry can only write it as JSON.
  const isNull = fields.toolResult === 'null'
  const result = isNull ? null : (resultOf(reading) ?? fromEvents.result ?? unwrapResult(outputOf(reading)))
  if (result !== undefined && !isPlaceholder(result)) tool.result = result
  return tool
}

/** LangChain passes on the arguments of a tool as Python prints them. */
function readPrinted(given: unknown): unknown {
  return typeof given === 'string' && given.startsWith("{'") ? (parsePythonRepr(given) ?? given) : given
}

/** `execute_tool x`, `x.tool`, `tools/call x`: strips everything but the tool's name. */
const decoration =
  /^(?:execute_tool |running tool: ?|tools\/call |tool_call\.)|\.(?:tool|tool_usage|__call__)$/g

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

/** AgentOps writes arguments to this key, OpenInference their schema, smolagents a schema for each argument. */
function isSchema(value: unknown): boolean {
  if (!isRecord(value)) return false
  if (value.$schema !== undefined || (isRecord(value.properties) && typeof value.type === 'string'))
    return true
  const parameters = Object.values(value)
  return parameters.length > 0 && parameters.every(isParameterSchema)
}

const schemaTypes: ReadonlySet<unknown> = new Set(
  'string number integer boolean object array null any image audio'.split(' '),
)

function isParameterSchema(value: unknown): boolean {
  if (!isRecord(value)) return false
  const isTyped = Array.isArray(value.type)
    ? value.type.every((type) => schemaTypes.has(type))
    : schemaTypes.has(value.type)
  return isTyped && typeof (value.description ?? value.title ?? '') === 'string' && !('value' in value)
}

function resultOf(reading: SpanReading): unknown {
  const { fields } = reading
  if (fields.toolResult === undefined) return undefined
  // Our SDK records what a function returned as JSON, whatever that looks like.
  if (fields.stepKind !== undefined) return unwrapBlocks(readJson(reading, fields.toolResult, parseJsonOnce))
  return unwrapResult(unwrapOutput(readJson(reading, fields.toolResult)))
}

/** Removes what frameworks and protocols put around a tool's result. */
function unwrapResult(value: unknown): unknown {
  const message = toolMessageOf(value)
  if (message !== undefined) {
    const result = unwrapBlocks(parseJson(message.content))
    return message.status === 'error' || message.is_error === true || message.isError === true
      ? { isError: true, content: result }
      : result
  }
  if (isFunctionResponse(value)) return unwrapResult(value.response)
  const isOnlyResult = isRecord(value) && value.result !== undefined && Object.keys(value).length === 1
  return unwrapBlocks(isOnlyResult ? parseJson(value.result) : value)
}

/** Gemini's `{ id, name, response }`. */
function isFunctionResponse(value: unknown): value is JsonObject {
  if (!isRecord(value) || !isRecord(value.response) || typeof value.name !== 'string') return false
  return Object.keys(value).every((key) => key === 'id' || key === 'name' || key === 'response')
}

/**
 * The message that a tool's result was put in: LangChain's ToolMessage as it is serialised (`kwargs`, `data`), dumped
 * or printed, the results of Bedrock, Anthropic and MCP, and LlamaIndex's ToolOutput.
 */
function toolMessageOf(value: unknown): JsonObject | undefined {
  if (typeof value === 'string') return printedMessage(value)
  if (Array.isArray(value)) return value.length === 1 ? toolMessageOf(value[0]) : undefined
  if (!isRecord(value)) return undefined
  if (isRecord(value.kwargs) && value.lc !== undefined) return value.kwargs
  if (isRecord(value.data) && value.type === 'tool') return value.data
  if (value.raw_output !== undefined && value.tool_name !== undefined)
    return { content: value.raw_output, is_error: value.is_error }
  if (value.content === undefined) return undefined
  const isMessage = messageIds.some((key) => value[key] !== undefined) || value.type === 'tool'
  const isBlocks = Array.isArray(value.content) && Object.keys(value).every((key) => resultKeys.has(key))
  return isMessage || isBlocks ? value : undefined
}

const messageIds = ['tool_call_id', 'toolCallId', 'tool_use_id', 'toolUseId']
/** The keys of MCP's result, and of Strands' without its id. */
const resultKeys: ReadonlySet<string> = new Set(['content', 'isError', 'is_error', '_meta', 'meta', 'status'])

const printed =
  /^content=(['"])([^]*?)\1 (?:name='[^']*' )?(?:id='[^']*' )?tool_call_id='([^']*)'( status='error')?/

/** `content='…' name='…' tool_call_id='…'`: how Python prints a message. */
function printedMessage(text: string): JsonObject | undefined {
  const match = printed.exec(text)
  if (match === null) return printedResult(text)
  const content = match[2]!.replaceAll(/\\(['"\\n])/g, (_, character: string) =>
    character === 'n' ? '\n' : character,
  )
  return { content, tool_call_id: match[3], ...(match[4] !== undefined && { status: 'error' }) }
}

/** `status='failure' result=None error='…'`: how Agno's result of a tool is printed. */
function printedResult(text: string): JsonObject | undefined {
  if (!/^(?:status|result)=['"N]/.test(text)) return undefined
  const { result, error } = parsePrintedFields(text) ?? {}
  if (typeof error === 'string') return { content: error, status: 'error' }
  return result === undefined || error !== null ? undefined : { content: result }
}

/** A LangChain tool does not report its call id, but the message that it returns has it. */
function callIdOf(output: unknown): string | undefined {
  const message = toolMessageOf(output)
  return message === undefined ? undefined : firstText(...messageIds.map((key) => message[key]))
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
