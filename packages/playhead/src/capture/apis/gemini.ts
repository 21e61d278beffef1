import { isObject, toList, toNumber, toObject, toObjects, toText, type JsonObject } from '../json-value.ts'
import { GeminiAssembler } from './gemini-stream.ts'
import { mediaAt, mediaOf, modalityOf } from './media-part.ts'
import type {
  Answer,
  ChatMessage,
  MessagePart,
  ModelApi,
  Question,
  TokenUsage,
  ToolDefinition,
} from './model-api.ts'
import { compact } from './openai-usage.ts'
import { attributesFrom, defineTool, outputType } from './request-attributes.ts'
import { wholeAssembler } from './whole-assembler.ts'

/** Gemini's generateContent and streamGenerateContent, at Google AI and Vertex. */
export const geminiGenerate: ModelApi = {
  readQuestion,
  readAnswer,
  createAssembler: () => new GeminiAssembler(),
}

/** Gemini's embedContent and batchEmbedContents. */
export const geminiEmbed: ModelApi = {
  readQuestion: readEmbedding,
  readAnswer: ({ usageMetadata }) => {
    const usage = usageOf(usageMetadata)
    return { messages: [], finishReasons: [], ...(usage !== undefined && { usage }) }
  },
  createAssembler: wholeAssembler,
}

const parameterNames = {
  temperature: 'gen_ai.request.temperature',
  topP: 'gen_ai.request.top_p',
  topK: 'gen_ai.request.top_k',
  maxOutputTokens: 'gen_ai.request.max_tokens',
  stopSequences: 'gen_ai.request.stop_sequences',
  candidateCount: 'gen_ai.request.choice.count',
  frequencyPenalty: 'gen_ai.request.frequency_penalty',
  presencePenalty: 'gen_ai.request.presence_penalty',
  seed: 'gen_ai.request.seed',
  responseSchema: 'gen_ai.request.response_format',
  responseJsonSchema: 'gen_ai.request.response_format',
  thinkingConfig: 'gen_ai.request.thinking',
}

const modelInPath = /\/models\/([^/:]+):/

function readQuestion(body: JsonObject, url: URL): Question {
  const config = toObject(body.generationConfig ?? body.generation_config)
  const isStream = url.pathname.endsWith(':streamGenerateContent')
  const system = partsOf(toObject(body.systemInstruction ?? body.system_instruction))
  const tools = toObjects(body.tools).flatMap(toolsOf)
  return {
    operation: 'generate_content',
    ...modelIn(url),
    isStream,
    ...(system.length > 0 && { system }),
    messages: contentsOf(body.contents),
    ...(tools.length > 0 && { tools }),
    attributes: {
      ...attributesFrom(config, parameterNames),
      ...outputType(config.responseMimeType === 'application/json' ? 'json' : undefined),
      ...(isStream && { 'gen_ai.request.stream': true }),
      ...attributesFrom(body, { toolConfig: 'gen_ai.request.tool_choice' }),
    },
  }
}

function readEmbedding(body: JsonObject, url: URL): Question {
  const contents =
    body.content === undefined ? toObjects(body.requests).map(({ content }) => content) : [body.content]
  const messages = contents.flatMap((content) => contentsOf([content]))
  return {
    operation: 'embeddings',
    ...modelIn(url),
    isStream: false,
    messages,
    attributes: attributesFrom(body, { outputDimensionality: 'gen_ai.embeddings.dimension.count' }),
  }
}

function modelIn(url: URL): { model?: string } {
  const model = modelInPath.exec(url.pathname)?.[1]
  return model === undefined ? {} : { model }
}

/** Several functions in one tool, or a tool of Google's own, named by its key. */
function toolsOf(tool: JsonObject): ToolDefinition[] {
  const declarations = toObjects(tool.functionDeclarations ?? tool.function_declarations)
  if (declarations.length > 0) return declarations.map((declaration) => defineTool(declaration))
  return Object.keys(tool).map((name) => ({ type: name, name }))
}

function contentsOf(contents: unknown): ChatMessage[] {
  const list = Array.isArray(contents) ? contents : [contents]
  return list.flatMap((content): ChatMessage[] => {
    if (typeof content === 'string') return [{ role: 'user', parts: [{ type: 'text', content }] }]
    if (!isObject(content)) return []
    const parts = partsOf(content)
    const isResult = parts.length > 0 && parts.every(({ type }) => type === 'tool_call_response')
    const role = content.role === 'model' ? 'assistant' : (toText(content.role) ?? 'user')
    return [{ role: isResult ? 'tool' : role, parts }]
  })
}

/** A content, or a part that stands for one. */
function partsOf(content: JsonObject): MessagePart[] {
  const isPart = content.parts === undefined && content.role === undefined && Object.keys(content).length > 0
  return toList(isPart ? [content] : content.parts).map((part) => partOf(toObject(part)))
}

function partOf(raw: JsonObject): MessagePart {
  if (typeof raw.text === 'string')
    return { type: raw.thought === true ? 'reasoning' : 'text', content: raw.text }
  const call = raw.functionCall ?? raw.function_call
  if (isObject(call)) {
    const id = toText(call.id)
    return {
      type: 'tool_call',
      ...(id !== undefined && { id }),
      name: toText(call.name) ?? '',
      arguments: call.args ?? {},
    }
  }
  const result = raw.functionResponse ?? raw.function_response
  if (isObject(result)) {
    const id = toText(result.id)
    const name = toText(result.name)
    return {
      type: 'tool_call_response',
      ...(id !== undefined && { id }),
      ...(name !== undefined && { name }),
      response: result.response ?? {},
    }
  }
  return serverToolPart(raw) ?? mediaPart(raw) ?? { type: 'other', value: raw }
}

/** Code that ran at Google. */
function serverToolPart(raw: JsonObject): MessagePart | undefined {
  if (isObject(raw.executableCode))
    return { type: 'server_tool_call', name: 'code_execution', arguments: raw.executableCode }
  if (isObject(raw.codeExecutionResult))
    return { type: 'server_tool_call_response', name: 'code_execution', response: raw.codeExecutionResult }
  return undefined
}

function mediaPart(raw: JsonObject): MessagePart | undefined {
  const inline = toObject(raw.inlineData ?? raw.inline_data)
  const file = toObject(raw.fileData ?? raw.file_data)
  const mimeType = toText(inline.mimeType ?? inline.mime_type ?? file.mimeType ?? file.mime_type)
  const modality = modalityOf(mimeType)
  const data = toText(inline.data)
  if (data !== undefined) return mediaOf(data, { modality, mimeType })
  const uri = toText(file.fileUri ?? file.file_uri)
  return uri === undefined ? undefined : mediaAt(uri, { modality, mimeType })
}

function readAnswer(body: JsonObject): Answer {
  const candidates = toObjects(body.candidates)
  const blocked = toText(toObject(body.promptFeedback).blockReason)
  const usage = usageOf(body.usageMetadata)
  const id = toText(body.responseId)
  const model = toText(body.modelVersion)
  const messages = candidates.map((candidate): ChatMessage => {
    const reason = toText(candidate.finishReason)
    const parts = partsOf(toObject(candidate.content))
    return { role: 'assistant', parts, ...(reason !== undefined && { finish_reason: reason }) }
  })
  return {
    ...(id !== undefined && { id }),
    ...(model !== undefined && { model }),
    messages: messages.filter(({ parts }) => parts.length > 0),
    finishReasons:
      blocked === undefined ? messages.flatMap(({ finish_reason: reason }) => reason ?? []) : [blocked],
    ...(usage !== undefined && { usage }),
  }
}

/** Gemini counts thoughts beside the candidates, and the prompts of its own tools beside the prompt. */
function usageOf(raw: unknown): TokenUsage | undefined {
  if (!isObject(raw)) return undefined
  const prompt = toNumber(raw.promptTokenCount)
  const toolPrompt = toNumber(raw.toolUsePromptTokenCount) ?? 0
  const reasoning = toNumber(raw.thoughtsTokenCount) ?? 0
  const candidates = toNumber(raw.candidatesTokenCount)
  const inputs = toObjects(raw.promptTokensDetails)
  const outputs = toObjects(raw.candidatesTokensDetails)
  return compact({
    input: prompt === undefined ? undefined : prompt + toolPrompt,
    output: candidates === undefined && reasoning === 0 ? undefined : (candidates ?? 0) + reasoning,
    cacheRead: toNumber(raw.cachedContentTokenCount),
    reasoning,
    audioInput: countOf(inputs, 'AUDIO'),
    imageInput: countOf(inputs, 'IMAGE'),
    audioOutput: countOf(outputs, 'AUDIO'),
  })
}

function countOf(details: readonly JsonObject[], modality: string): number | undefined {
  return toNumber(details.find((detail) => detail.modality === modality)?.tokenCount)
}
