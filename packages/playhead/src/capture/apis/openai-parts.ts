import { parseArguments, toObject, toObjects, toText, type JsonObject } from '../json-value.ts'
import { mediaAt, mediaInFile, mediaOf } from './media-part.ts'
import type { MessagePart } from './model-api.ts'

/** The parts of a content that is text, or a list of parts: chat completions and responses share most of them. */
export function partsOfContent(content: unknown): MessagePart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', content }]
  if (!Array.isArray(content)) return []
  return content.flatMap((item) => (typeof item === 'string' ? partsOfContent(item) : partOf(toObject(item))))
}

function partOf(raw: JsonObject): MessagePart[] {
  switch (raw.type) {
    case 'text':
    case 'input_text':
    case 'output_text':
    case 'summary_text':
    case 'reasoning_text':
      return partsOfContent(raw.text)
    case 'refusal':
      return refusalPart(raw.refusal)
    case 'thinking':
      return reasoningPart(textOfParts(raw.thinking))
    case 'image_url':
    case 'input_image':
      return imagePart(raw)
    case 'input_audio': {
      const { data, format } = toObject(raw.input_audio)
      return [mediaOf(String(data), { modality: 'audio', mimeType: `audio/${String(format)}` })]
    }
    case 'file':
    case 'input_file':
      return filePart(typeof raw.file === 'object' ? toObject(raw.file) : raw)
    default:
      return [{ type: 'other', value: raw }]
  }
}

export function refusalPart(text: unknown): MessagePart[] {
  const content = toText(text)
  return content === undefined ? [] : [{ type: 'refusal', content }]
}

export function reasoningPart(text: unknown): MessagePart[] {
  const content = toText(text)
  return content === undefined ? [] : [{ type: 'reasoning', content }]
}

/** The text of a list of parts. */
export function textOfParts(content: unknown): string {
  if (typeof content === 'string') return content
  return toObjects(content)
    .map(({ text }) => toText(text) ?? '')
    .join('\n')
}

/** A function that the model calls: chat nests it below `function`, responses do not. */
export function functionCallPart(raw: JsonObject): MessagePart {
  const call = toObject(raw.function ?? raw.custom ?? raw)
  const id = toText(raw.call_id) ?? toText(raw.id)
  return {
    type: 'tool_call',
    ...(id !== undefined && { id }),
    name: toText(call.name) ?? '',
    arguments: parseArguments(call.arguments ?? call.input),
  }
}

/** The result of a tool as the model gets it: most are JSON in a text. */
export function toolResultPart(id: unknown, content: unknown): MessagePart {
  const parts = partsOfContent(content)
  const only = parts.length === 1 ? parts[0] : undefined
  const response = only?.type === 'text' ? parseArguments(only.content) : parts.length === 0 ? content : parts
  const callId = toText(id)
  return { type: 'tool_call_response', ...(callId !== undefined && { id: callId }), response: response ?? '' }
}

function imagePart(raw: JsonObject): MessagePart[] {
  const address = toText(raw.image_url) ?? toText(toObject(raw.image_url).url)
  if (address !== undefined) return [mediaAt(address, { modality: 'image' })]
  const fileId = toText(raw.file_id)
  return [fileId === undefined ? { type: 'other', value: raw } : mediaInFile(fileId, { modality: 'image' })]
}

function filePart(raw: JsonObject): MessagePart[] {
  const fileId = toText(raw.file_id)
  if (fileId !== undefined) return [mediaInFile(fileId, { modality: 'file' })]
  const data = toText(raw.file_data) ?? toText(raw.file_url)
  return data === undefined ? [{ type: 'other', value: raw }] : [mediaAt(data, { modality: 'file' })]
}
