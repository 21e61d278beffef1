import { asList, asObject, asText, isObject, parseLoosely, type JsonObject } from './json.ts'
import {
  emptyMessage,
  type ApiName,
  type OfferedTool,
  type RequestMessage,
  type RequestParts,
} from './model-request.ts'

/** The API that a path belongs to. */
export function apiOfPath(path: string): ApiName | undefined {
  if (path.endsWith('/chat/completions')) return 'openai.chat'
  if (path.endsWith('/completions')) return 'openai.completions'
  if (path.endsWith('/responses')) return 'openai.responses'
  if (path.endsWith('/embeddings')) return 'openai.embeddings'
  if (path.endsWith('/messages')) return 'anthropic.messages'
  if (/:(?:stream)?[gG]enerateContent$/.test(path)) return 'gemini.generate'
  if (/:(?:embedContent|batchEmbedContents)$/.test(path)) return 'gemini.embed'
  return path.endsWith('/api/chat') ? 'ollama.chat' : undefined
}

export function readRequest(api: ApiName, body: JsonObject, path: string): RequestParts {
  switch (api) {
    case 'openai.responses':
      return readResponses(body)
    case 'anthropic.messages':
      return readAnthropic(body)
    case 'gemini.generate':
    case 'gemini.embed':
      return readGemini(api, body, path)
    default:
      return readChat(api, body)
  }
}

function readChat(api: ApiName, body: JsonObject): RequestParts {
  const format = asObject(body.response_format)
  const schema = asObject(format.json_schema).schema
  const messages = asList(body.messages).map((item): RequestMessage => {
    const raw = asObject(item)
    const message = emptyMessage(roleOf(raw.role), textOf(raw.content))
    for (const call of asList(raw.tool_calls)) message.toolCalls.push(readFunctionCall(asObject(call)))
    if (message.role === 'tool') {
      message.toolResults.push({ id: asText(raw.tool_call_id), result: parseLoosely(message.text) })
      message.text = ''
    }
    return message
  })
  if (messages.length === 0) messages.push(emptyMessage('user', textOf(body.prompt ?? body.input)))
  return {
    api,
    model: asText(body.model),
    isStream: body.stream === true || (api === 'ollama.chat' && body.stream !== false),
    messages,
    tools: asList(body.tools).map((tool) => readTool(asObject(asObject(tool).function))),
    ...((schema !== undefined || isObject(body.format)) && { schema: schema ?? body.format }),
    body,
  }
}

function readResponses(body: JsonObject): RequestParts {
  const messages: RequestMessage[] = []
  if (typeof body.input === 'string') messages.push(emptyMessage('user', body.input))
  for (const item of asList(body.input)) addResponsesItem(messages, asObject(item))
  const schema = asObject(asObject(body.text).format).schema
  return {
    api: 'openai.responses',
    model: asText(body.model),
    isStream: body.stream === true,
    messages,
    tools: asList(body.tools).map((tool) => readTool(asObject(tool))),
    ...(schema !== undefined && { schema }),
    body,
  }
}

function addResponsesItem(messages: RequestMessage[], item: JsonObject): void {
  if (item.type === 'function_call_output') {
    const message = emptyMessage('tool')
    message.toolResults.push({ id: asText(item.call_id), result: parseLoosely(textOf(item.output)) })
    messages.push(message)
  } else if (item.type === 'function_call') {
    const message = emptyMessage('assistant')
    message.toolCalls.push(readFunctionCall(item))
    messages.push(message)
  } else if (item.role !== undefined) messages.push(emptyMessage(roleOf(item.role), textOf(item.content)))
}

function readAnthropic(body: JsonObject): RequestParts {
  const messages = asList(body.messages).map((item): RequestMessage => {
    const raw = asObject(item)
    const message = emptyMessage(roleOf(raw.role), textOf(raw.content))
    for (const block of asList(raw.content).map(asObject)) {
      if (block.type === 'tool_use') {
        message.toolCalls.push({ id: asText(block.id), name: asText(block.name), arguments: block.input })
      } else if (block.type === 'tool_result') {
        message.toolResults.push({
          id: asText(block.tool_use_id),
          result: parseLoosely(textOf(block.content)),
        })
      }
    }
    return message
  })
  const format = asObject(body.output_format ?? asObject(body.output_config).format)
  return {
    api: 'anthropic.messages',
    model: asText(body.model),
    isStream: body.stream === true,
    messages,
    tools: asList(body.tools).map((tool) => readTool(asObject(tool))),
    ...(format.schema !== undefined && { schema: format.schema }),
    body,
  }
}

function readGemini(api: ApiName, body: JsonObject, path: string): RequestParts {
  const contents = api === 'gemini.embed' ? [body.content] : asList(body.contents)
  const messages = contents.map((item): RequestMessage => {
    const raw = asObject(item)
    const message = emptyMessage(raw.role === 'model' ? 'assistant' : 'user')
    for (const part of asList(raw.parts).map(asObject)) {
      message.text += asText(part.text)
      const call = asObject(part.functionCall)
      if (call.name !== undefined) message.toolCalls.push({ name: asText(call.name), arguments: call.args })
      const result = asObject(part.functionResponse)
      if (result.name !== undefined)
        message.toolResults.push({ name: asText(result.name), result: result.response })
    }
    return message
  })
  const config = asObject(body.generationConfig)
  const schema = config.responseJsonSchema ?? config.responseSchema
  const declarations = asList(body.tools).flatMap((tool) => asList(asObject(tool).functionDeclarations))
  return {
    api,
    model: /models\/([^/:]+):/.exec(path)?.[1] ?? '',
    isStream: path.includes(':streamGenerateContent'),
    messages,
    tools: declarations.map((tool) => readTool(asObject(tool))),
    ...(schema !== undefined && { schema }),
    body,
  }
}

function readTool(raw: JsonObject): OfferedTool {
  const parameters = raw.parameters ?? raw.input_schema ?? raw.parametersJsonSchema
  return { name: asText(raw.name), ...(parameters !== undefined && { parameters }) }
}

function readFunctionCall(raw: JsonObject): RequestMessage['toolCalls'][number] {
  const call = isObject(raw.function) ? raw.function : raw
  return {
    id: asText(raw.call_id ?? raw.id),
    name: asText(call.name),
    arguments: parseLoosely(call.arguments),
  }
}

function roleOf(role: unknown): RequestMessage['role'] {
  if (role === 'developer') return 'system'
  return role === 'system' || role === 'assistant' || role === 'tool' ? role : 'user'
}

/** Content is either a text or a list of parts, some of which are text. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return asList(content)
    .map((part) => (typeof part === 'string' ? part : asText(asObject(part).text)))
    .join('')
}
