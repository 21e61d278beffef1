import type { ToolDefinition } from '../session/message.ts'
import type { ProviderMessage } from './messages.ts'
import { readContent, type ProviderPart } from './parts.ts'

/** A part in OpenTelemetry's GenAI conventions, extended by what they do not cover. */
export type ConventionPart =
  | { type: 'text' | 'refusal' | 'reasoning'; content: string }
  | { type: 'redacted_thinking' }
  | { type: 'tool_call' | 'server_tool_call'; id?: string; name: string; arguments: unknown }
  | {
      type: 'tool_call_response' | 'server_tool_call_response'
      id?: string
      name?: string
      response: unknown
      is_error?: true
    }
  | { type: 'blob'; modality: string; mime_type?: string; content: string }
  | { type: 'uri'; modality: string; mime_type?: string; uri: string }
  | { type: 'file'; modality: string; file_id: string }
  | { type: 'other'; value: unknown }

export type ConventionMessage = {
  role: string
  name?: string
  parts: ConventionPart[]
  finish_reason?: string
}

export type ConventionTool = { type: string; name: string; description?: string; parameters?: unknown }

/** Converts a message to the conventions' shape, for the attributes of a span. */
export function writeMessage({ role, name, parts, finishReason }: ProviderMessage): ConventionMessage {
  return {
    role,
    ...(name !== undefined && { name }),
    parts: parts.map(writePart),
    ...(finishReason !== undefined && { finish_reason: finishReason }),
  }
}

export function writeTool({
  type = 'function',
  name,
  description,
  parameters,
}: ToolDefinition): ConventionTool {
  return {
    type,
    name,
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { parameters }),
  }
}

export function writePart(part: ProviderPart): ConventionPart {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { type: part.type, content: part.text }
    case 'reasoning':
      return part.isRedacted === true
        ? { type: 'redacted_thinking' }
        : { type: 'reasoning', content: part.text ?? '' }
    case 'tool-call':
    case 'server-tool-call':
      return {
        type: part.type === 'tool-call' ? 'tool_call' : 'server_tool_call',
        ...(part.id !== undefined && { id: part.id }),
        name: part.name,
        arguments: part.arguments,
      }
    case 'tool-result':
    case 'server-tool-result':
      return {
        type: part.type === 'tool-result' ? 'tool_call_response' : 'server_tool_call_response',
        ...(part.id !== undefined && { id: part.id }),
        ...(part.name !== undefined && { name: part.name }),
        response:
          part.blocks === undefined ? writeResult(part.result) : readContent(part.blocks).map(writePart),
        ...(part.isError === true && { is_error: true }),
      }
    case 'media':
      return writeMedia(part)
    case 'other':
      return { type: 'other', value: part.raw }
  }
}

/** Numbers that JSON would not write back unchanged, such as long ids, stay text. */
const scalar = /^(?:true|false|-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?)$/

function writeResult(result: unknown): unknown {
  return typeof result === 'string' && scalar.test(result) ? JSON.parse(result) : (result ?? '')
}

function writeMedia(part: Extract<ProviderPart, { type: 'media' }>): ConventionPart {
  const { modality, mimeType, fileId, base64, uri = '' } = part
  if (fileId !== undefined) return { type: 'file', modality, file_id: fileId }
  const media = { modality, ...(mimeType !== undefined && { mime_type: mimeType }) }
  return base64 === undefined ? { type: 'uri', ...media, uri } : { type: 'blob', ...media, content: base64 }
}
