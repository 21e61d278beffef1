import { toNumber, toObject, toObjects, toText, type JsonObject } from '../json-value.ts'
import type { Answer, Assembler, ModelApi, Question, StreamedPiece, TokenUsage } from './model-api.ts'
import { chatMessage } from './openai-chat.ts'
import { embeddedTexts } from './openai-embeddings.ts'
import { compact } from './openai-usage.ts'
import { attributesFrom, defineTool, outputType } from './request-attributes.ts'
import { wholeAssembler } from './whole-assembler.ts'

/** Ollama's own chat and generate. */
export const ollamaChat: ModelApi = {
  readQuestion,
  readAnswer,
  createAssembler: () => new OllamaAssembler(),
}

/** Ollama's own embeddings. */
export const ollamaEmbed: ModelApi = {
  readQuestion: (body) => {
    const model = toText(body.model)
    return {
      operation: 'embeddings',
      ...(model !== undefined && { model }),
      isStream: false,
      messages: embeddedTexts(body.input ?? body.prompt),
      attributes: {},
    }
  },
  readAnswer: (body) => ({ ...readAnswer(body), messages: [] }),
  createAssembler: wholeAssembler,
}

const parameterNames = {
  temperature: 'gen_ai.request.temperature',
  top_p: 'gen_ai.request.top_p',
  top_k: 'gen_ai.request.top_k',
  num_predict: 'gen_ai.request.max_tokens',
  stop: 'gen_ai.request.stop_sequences',
  seed: 'gen_ai.request.seed',
  frequency_penalty: 'gen_ai.request.frequency_penalty',
  presence_penalty: 'gen_ai.request.presence_penalty',
}

function readQuestion(body: JsonObject): Question {
  const model = toText(body.model)
  const tools = toObjects(body.tools).map((tool) =>
    defineTool(toObject(tool.function ?? tool), toText(tool.type)),
  )
  const prompt = toText(body.prompt)
  const system = toText(body.system)
  const messages =
    prompt === undefined ? toObjects(body.messages) : [{ role: 'user', content: prompt, images: body.images }]
  const isStream = body.stream !== false
  return {
    operation: prompt === undefined ? 'chat' : 'text_completion',
    ...(model !== undefined && { model }),
    isStream,
    ...(system !== undefined && { system: [{ type: 'text', content: system }] }),
    messages: messages.map(chatMessage),
    ...(tools.length > 0 && { tools }),
    attributes: {
      ...attributesFrom(toObject(body.options), parameterNames),
      ...attributesFrom(body, { format: 'gen_ai.request.response_format', think: 'gen_ai.request.thinking' }),
      ...outputType(body.format === undefined ? undefined : 'json'),
      'gen_ai.request.stream': isStream,
    },
  }
}

function readAnswer(body: JsonObject): Answer {
  const model = toText(body.model)
  const message = chatMessage({
    role: 'assistant',
    content: body.response,
    thinking: body.thinking,
    ...toObject(body.message),
  })
  const reason = toText(body.done_reason)
  const error = toText(body.error)
  return {
    ...(model !== undefined && { model }),
    messages:
      message.parts.length === 0
        ? []
        : [{ ...message, ...(reason !== undefined && { finish_reason: reason }) }],
    finishReasons: reason === undefined ? [] : [reason],
    usage: usageOf(body),
    ...(error !== undefined && { error: { type: '', message: error } }),
  }
}

function usageOf(body: JsonObject): TokenUsage {
  return compact({ input: toNumber(body.prompt_eval_count), output: toNumber(body.eval_count) })
}

class OllamaAssembler implements Assembler {
  #fields: JsonObject = {}
  readonly #message: JsonObject = { content: '', thinking: '' }
  readonly #calls: JsonObject[] = []

  add(event: JsonObject): StreamedPiece {
    const { message, response, ...fields } = event
    this.#fields = { ...this.#fields, ...fields }
    const part = toObject(message)
    const text = toText(part.content) ?? toText(response) ?? ''
    const thought = toText(part.thinking) ?? toText(fields.thinking) ?? ''
    const calls = toObjects(part.tool_calls)
    this.#message.content = `${String(this.#message.content)}${text}`
    this.#message.thinking = `${String(this.#message.thinking)}${thought}`
    this.#calls.push(...calls)
    return {
      ...(text !== '' && { text }),
      isToken: text !== '' || thought !== '' || calls.length > 0,
      isLast: event.done === true || event.error !== undefined,
    }
  }

  whole(): JsonObject {
    const { thinking: _thinking, ...fields } = this.#fields
    return { ...fields, message: { ...this.#message, tool_calls: this.#calls } }
  }
}
