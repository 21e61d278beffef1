import {
  isRecord,
  textOf,
  toNumber,
  toObject,
  toObjects,
  toTokens,
  type JsonObject,
} from '../json/attribute-value.ts'
import { readMessage, separateToolResults, type ProviderMessage } from './messages.ts'
import {
  attributesFrom,
  createWholeAssembler,
  outputType,
  textField,
  type ModelApi,
  type ModelRequest,
  type ModelResponse,
  type StreamAssembler,
  type StreamDelta,
} from './model-api.ts'
import { readTools } from './tools.ts'
import { readUsage } from './usage.ts'

/** Gemini's generateContent and streamGenerateContent, at Google AI and Vertex. */
export const geminiGenerate: ModelApi = {
  readRequest,
  readResponse,
  createAssembler: () => new ContentAssembler(),
}

/** Gemini's embedContent and batchEmbedContents. */
export const geminiEmbed: ModelApi = {
  readRequest: readEmbedRequest,
  readResponse: (body) => ({ messages: [], finishReasons: [], ...usageOf(body) }),
  createAssembler: createWholeAssembler,
}

const parameters = {
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

function readRequest(body: JsonObject, url: URL): ModelRequest {
  const config = toObject(body.generationConfig ?? body.generation_config)
  const isStream = url.pathname.endsWith(':streamGenerateContent')
  return {
    operation: 'generate_content',
    ...modelIn(url),
    isStream,
    system: readContents(body.systemInstruction ?? body.system_instruction)[0]?.parts ?? [],
    messages: readContents(body.contents),
    tools: readTools(body.tools),
    attributes: {
      ...attributesFrom(config, parameters),
      ...outputType(config.responseMimeType === 'application/json' ? 'json' : undefined),
      ...(isStream && { 'gen_ai.request.stream': true }),
      ...attributesFrom(body, { toolConfig: 'gen_ai.request.tool_choice' }),
    },
  }
}

function readEmbedRequest(body: JsonObject, url: URL): ModelRequest {
  return {
    operation: 'embeddings',
    ...modelIn(url),
    isStream: false,
    messages: readContents(body.content ?? toObjects(body.requests).map(({ content }) => content)),
    attributes: attributesFrom(body, { outputDimensionality: 'gen_ai.embeddings.dimension.count' }),
  }
}

function modelIn({ pathname }: URL): { model?: string } {
  return textField('model', /\/models\/([^/:]+):/.exec(pathname)?.[1])
}

/** One content or several. Each may be a string, or a single part instead of a content. */
function readContents(contents: unknown): ProviderMessage[] {
  const messages = (Array.isArray(contents) ? contents : [contents]).flatMap((content): ProviderMessage[] => {
    const isPart = isRecord(content) && content.parts === undefined && content.role === undefined
    const message = readMessage(isPart ? { parts: [content] } : content, 'user')
    return message === undefined ? [] : [message]
  })
  return separateToolResults(messages)
}

function readResponse(body: JsonObject): ModelResponse {
  const messages = toObjects(body.candidates).map((candidate) => readMessage(candidate, 'assistant')!)
  const blocked = textOf(toObject(body.promptFeedback).blockReason)
  return {
    ...textField('id', body.responseId),
    ...textField('model', body.modelVersion),
    messages: messages.filter(({ parts }) => parts.length > 0),
    finishReasons: blocked === '' ? messages.flatMap(({ finishReason }) => finishReason ?? []) : [blocked],
    ...usageOf(body),
  }
}

/** Gemini's candidate tokens exclude thoughts, and its prompt tokens exclude the prompts of its own tools. */
function usageOf({ usageMetadata: raw }: JsonObject): Pick<ModelResponse, 'usage'> {
  if (!isRecord(raw)) return {}
  const prompt = toTokens(raw.promptTokenCount)
  const promptTokenCount =
    prompt === undefined ? undefined : prompt + (toTokens(raw.toolUsePromptTokenCount) ?? 0)
  return { usage: readUsage({ ...raw, promptTokenCount }, { isReasoningApart: true })! }
}

type Candidate = { index: number; parts: JsonObject[]; finishReason?: unknown }

class ContentAssembler implements StreamAssembler {
  #fields: JsonObject = {}
  readonly #candidates = new Map<number, Candidate>()

  add(event: JsonObject): StreamDelta {
    const { candidates, ...fields } = event
    this.#fields = { ...this.#fields, ...fields }
    const added: StreamDelta = { isToken: false, isLast: false }
    for (const raw of toObjects(candidates)) this.#addCandidate(raw, added)
    return added
  }

  response(): JsonObject {
    const candidates = [...this.#candidates.values()].map(({ parts, ...candidate }) => ({
      ...candidate,
      content: { role: 'model', parts },
    }))
    return { ...this.#fields, candidates }
  }

  #addCandidate(raw: JsonObject, added: StreamDelta): void {
    const index = toNumber(raw.index) ?? 0
    const candidate = this.#candidates.get(index) ?? { index, parts: [] }
    this.#candidates.set(index, candidate)
    if (raw.finishReason !== undefined) candidate.finishReason = raw.finishReason
    for (const part of toObjects(toObject(raw.content).parts)) {
      addPart(candidate.parts, part)
      const text = textOf(part.text)
      added.isToken ||= text !== '' || part.text === undefined
      if (index === 0 && text !== '' && part.thought !== true) added.text = (added.text ?? '') + text
    }
  }
}

/** Joins consecutive chunks of text into one part. */
function addPart(parts: JsonObject[], part: JsonObject): void {
  const last = parts.at(-1)
  const isContinued =
    last !== undefined &&
    typeof last.text === 'string' &&
    typeof part.text === 'string' &&
    (last.thought === true) === (part.thought === true)
  if (isContinued) last.text = textOf(last.text) + textOf(part.text)
  else parts.push({ ...part })
}
