import { isRecord, textOf, toObject, type JsonObject } from '../json/attribute-value.ts'
import { anthropicMessages } from '../providers/anthropic.ts'
import { geminiGenerate } from '../providers/gemini.ts'
import type { ModelApi } from '../providers/model-api.ts'
import { ollamaChat } from '../providers/ollama.ts'
import { openAiChat } from '../providers/openai-chat.ts'
import { openAiCompletions } from '../providers/openai-completions.ts'
import { openAiResponses } from '../providers/openai-responses.ts'

/** A text of a request that can be replaced. `read` is undefined if the request has none. */
type RequestText = {
  read(body: JsonObject): string | undefined
  write(body: JsonObject, text: string): JsonObject
}

/** Where an API has the system prompt and the last message of the user. */
export type RequestForm = { system?: RequestText; prompt: RequestText }

/** Undefined for APIs that are no conversation. */
export function formOf(api: ModelApi, body: JsonObject): RequestForm | undefined {
  if (api === openAiChat) return chatForm
  if (api === ollamaChat) return Array.isArray(body.messages) ? chatForm : generateForm
  return forms.get(api)
}

const isSystem = ({ role }: JsonObject) => role === 'system' || role === 'developer'
const isUser = ({ role, type = 'message' }: JsonObject) => role === 'user' && type === 'message'

/** A message of a list, found by its role. */
function messageText(
  list: 'messages' | 'input' | 'contents',
  isWanted: (message: JsonObject) => boolean,
  from: 'first' | 'last',
): RequestText {
  const find = (body: JsonObject): number => {
    const messages = Array.isArray(body[list]) ? body[list] : []
    const isFound = (message: unknown) =>
      isRecord(message) && isWanted(message) && readContent(contentOf(message)) !== undefined
    return from === 'first' ? messages.findIndex(isFound) : messages.findLastIndex(isFound)
  }
  return {
    read: (body) => {
      const index = find(body)
      return index === -1 ? undefined : readContent(contentOf((body[list] as JsonObject[])[index]!))
    },
    write: (body, text) => {
      const index = find(body)
      const messages = [...(Array.isArray(body[list]) ? (body[list] as unknown[]) : [])]
      if (index === -1)
        messages.splice(from === 'first' ? 0 : messages.length, 0, newMessage(list, from, text))
      else messages[index] = withContent(messages[index] as JsonObject, text)
      return { ...body, [list]: messages }
    },
  }
}

function newMessage(list: string, from: 'first' | 'last', text: string): JsonObject {
  if (list === 'contents') return { role: 'user', parts: [{ text }] }
  return { role: from === 'first' ? 'system' : 'user', content: text }
}

function contentOf(message: JsonObject): unknown {
  return message.content ?? message.parts
}

function withContent(message: JsonObject, text: string): JsonObject {
  const field = message.content === undefined && message.parts !== undefined ? 'parts' : 'content'
  return { ...message, [field]: writeContent(message[field], text) }
}

/** The text of a message whose content is a string or a list of parts. */
function readContent(content: unknown): string | undefined {
  if (typeof content === 'string') return content
  if (!Array.isArray(content))
    return isRecord(content) && typeof content.text === 'string' ? content.text : undefined
  const texts = content.filter(isTextPart).map((part) => textOf(typeof part === 'string' ? part : part.text))
  return texts.length === 0 ? undefined : texts.join('\n')
}

/** Puts the text where the first text was; images and files stay. */
function writeContent(content: unknown, text: string): unknown {
  if (!Array.isArray(content)) return text
  const first = content.findIndex(isTextPart)
  return content.flatMap((part: unknown, index): unknown[] => {
    if (!isTextPart(part)) return [part]
    if (index !== first) return []
    return [typeof part === 'string' ? text : { ...part, text }]
  })
}

function isTextPart(part: unknown): part is string | JsonObject {
  return (
    typeof part === 'string' || (isRecord(part) && typeof part.text === 'string' && part.thought !== true)
  )
}

function fieldText(field: string): RequestText {
  return {
    read: (body) => (textOf(body[field]) === '' ? undefined : textOf(body[field])),
    write: (body, text) => ({ ...body, [field]: text }),
  }
}

const chatForm: RequestForm = {
  system: messageText('messages', isSystem, 'first'),
  prompt: messageText('messages', isUser, 'last'),
}

const generateForm: RequestForm = { system: fieldText('system'), prompt: fieldText('prompt') }

const instructions = fieldText('instructions')
const inputText = fieldText('input')
const systemItem = messageText('input', isSystem, 'first')
const userItem = messageText('input', isUser, 'last')

const responsesForm: RequestForm = {
  system: {
    read: (body) => instructions.read(body) ?? systemItem.read(body),
    write: (body, text) => {
      const isItem = instructions.read(body) === undefined && systemItem.read(body) !== undefined
      return (isItem ? systemItem : instructions).write(body, text)
    },
  },
  prompt: {
    read: (body) => inputText.read(body) ?? userItem.read(body),
    write: (body, text) => (Array.isArray(body.input) ? userItem : inputText).write(body, text),
  },
}

const anthropicForm: RequestForm = {
  system: {
    read: ({ system }) => readContent(system),
    write: (body, text) => ({ ...body, system: writeContent(body.system, text) }),
  },
  prompt: messageText('messages', isUser, 'last'),
}

const isUserContent = ({ role = 'user' }: JsonObject) => role === 'user'
const userContent = messageText('contents', isUserContent, 'last')

const geminiForm: RequestForm = {
  system: {
    read: (body) =>
      readContent(systemInstruction(body)) ?? readContent(toObject(systemInstruction(body)).parts),
    write: ({ system_instruction: _other, ...body }, text) => ({
      ...body,
      systemInstruction: { ...withoutText(body.systemInstruction), parts: [{ text }] },
    }),
  },
  prompt: {
    read: (body) => (typeof body.contents === 'string' ? body.contents : userContent.read(listed(body))),
    write: (body, text) =>
      typeof body.contents === 'string' ? { ...body, contents: text } : userContent.write(listed(body), text),
  },
}

function systemInstruction(body: JsonObject): unknown {
  return body.systemInstruction ?? body.system_instruction
}

function withoutText(instruction: unknown): JsonObject {
  const { text: _text, ...rest } = toObject(instruction)
  return rest
}

/** One content may stand without a list. */
function listed(body: JsonObject): JsonObject {
  return isRecord(body.contents) ? { ...body, contents: [body.contents] } : body
}

const completionsForm: RequestForm = {
  prompt: {
    read: ({ prompt }) => readContent(prompt),
    write: (body, text) => ({ ...body, prompt: writeContent(body.prompt, text) }),
  },
}

const forms = new Map<ModelApi, RequestForm>([
  [openAiResponses, responsesForm],
  [anthropicMessages, anthropicForm],
  [geminiGenerate, geminiForm],
  [openAiCompletions, completionsForm],
])
