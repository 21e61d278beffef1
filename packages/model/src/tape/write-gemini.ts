import { textOf, toObject, toObjects, type JsonObject } from '../json/attribute-value.ts'
import { parseJson } from '../json/json-text.ts'
import type { Part } from '../session/message.ts'
import type { Usage } from '../session/usage.ts'
import { piecesOf, type Finish } from './recorded-answer.ts'
import type { LiveRequest, ResponseWriter } from './response-writer.ts'

const finishWords: Record<Finish, string> = {
  stop: 'STOP',
  tool: 'STOP',
  length: 'MAX_TOKENS',
  filter: 'SAFETY',
}

const errorStatuses: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
}

const ownWord = /^[A-Z]+(?:_[A-Z]+)*$/

/** Its last event has text too. */
const NO_ENDING = /(?!)/

/** Gemini's generateContent and streamGenerateContent. */
export const geminiWriter: ResponseWriter = {
  write: ({ id, model, replies, usage }) => ({
    candidates: replies.map(({ parts, finish }, index) => ({
      content: { role: 'model', parts: parts.flatMap(writePart) },
      finishReason: finishWords[finish],
      index,
    })),
    ...(usage !== undefined && { usageMetadata: writeUsage(usage) }),
    modelVersion: model,
    responseId: id,
  }),
  stream: ({ candidates, usageMetadata, ...head }, request, pieces) => {
    const chunks = toObjects(candidates).flatMap((candidate) => streamCandidate(candidate, pieces))
    const events = chunks.map((candidate, index) => ({
      candidates: [candidate],
      ...(index === chunks.length - 1 && usageMetadata !== undefined && { usageMetadata }),
      ...head,
    }))
    return isServerSent(request) ? events.map(writeEvent) : [JSON.stringify(events)]
  },
  ending: NO_ENDING,
  streamType: (request) => (isServerSent(request) ? 'text/event-stream' : 'application/json'),
  writeError: ({ type, message, status }) => ({
    error: {
      code: status,
      message,
      status: ownWord.test(type) ? type : (errorStatuses[status] ?? 'INTERNAL'),
    },
  }),
}

function isServerSent({ url }: LiveRequest): boolean {
  return url.searchParams.get('alt') === 'sse'
}

function writeEvent(data: unknown): string {
  return `data: ${JSON.stringify(data)}\r\n\r\n`
}

function writePart(part: Part): JsonObject[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return [{ text: part.text }]
    case 'reasoning':
      return [
        {
          text: part.text ?? '',
          thought: true,
          ...(part.signature !== undefined && { thoughtSignature: part.signature }),
        },
      ]
    case 'tool-call': {
      const args = parseJson(part.arguments) ?? {}
      if (part.isServerSide === true) return [{ executableCode: args }]
      return [{ functionCall: { ...(part.id !== undefined && { id: part.id }), name: part.name, args } }]
    }
    case 'tool-result':
      return [{ codeExecutionResult: part.result }]
    case 'media':
      return part.base64 === undefined
        ? []
        : [{ inlineData: { mimeType: part.mimeType ?? 'application/octet-stream', data: part.base64 } }]
    case 'other':
      return [toObject(part.raw)]
  }
}

/** Gemini counts thoughts apart from the candidates. */
function writeUsage({ input = 0, output = 0, total, cacheRead, reasoning }: Usage): JsonObject {
  return {
    promptTokenCount: input,
    candidatesTokenCount: output - (reasoning ?? 0),
    totalTokenCount: total ?? input + output,
    ...(cacheRead !== undefined && { cachedContentTokenCount: cacheRead }),
    ...(reasoning !== undefined && { thoughtsTokenCount: reasoning }),
  }
}

function streamCandidate(
  { content, finishReason, ...rest }: JsonObject,
  pieces: readonly string[],
): JsonObject[] {
  const parts = toObjects(toObject(content).parts).flatMap((part) =>
    typeof part.text === 'string' && part.thought !== true
      ? piecesOf(textOf(part.text), pieces).map((text) => ({ ...part, text }))
      : [part],
  )
  const chunks = (parts.length === 0 ? [{ text: '' }] : parts).map((part): JsonObject => ({
    content: { role: 'model', parts: [part] },
    ...rest,
  }))
  chunks[chunks.length - 1] = { ...chunks.at(-1), finishReason }
  return chunks
}
