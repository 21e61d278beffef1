import { toNumber, toObject, toObjects, toText, type JsonObject } from '../json-value.ts'
import type { Assembler, StreamedPiece } from './model-api.ts'

type Candidate = { index: number; parts: JsonObject[]; finishReason?: unknown }

/** Pieces of generated content into one. */
export class GeminiAssembler implements Assembler {
  #fields: JsonObject = {}
  readonly #candidates = new Map<number, Candidate>()

  add(event: JsonObject): StreamedPiece {
    const { candidates, ...fields } = event
    this.#fields = { ...this.#fields, ...fields }
    const piece: StreamedPiece = { isToken: false, isLast: false }
    for (const raw of toObjects(candidates)) this.#addCandidate(raw, piece)
    return piece
  }

  whole(): JsonObject {
    const candidates = [...this.#candidates.values()].map(({ parts, ...candidate }) => ({
      ...candidate,
      content: { role: 'model', parts },
    }))
    return { ...this.#fields, candidates }
  }

  #addCandidate(raw: JsonObject, piece: StreamedPiece): void {
    const index = toNumber(raw.index) ?? 0
    const candidate = this.#candidates.get(index) ?? { index, parts: [] }
    this.#candidates.set(index, candidate)
    if (raw.finishReason !== undefined) candidate.finishReason = raw.finishReason
    for (const part of toObjects(toObject(raw.content).parts)) {
      addPart(candidate.parts, part)
      const text = toText(part.text)
      piece.isToken ||= text !== undefined || part.text === undefined
      if (index === 0 && text !== undefined && part.thought !== true) piece.text = (piece.text ?? '') + text
    }
  }
}

/** Text that goes on is one part. */
function addPart(parts: JsonObject[], part: JsonObject): void {
  const last = parts.at(-1)
  const isContinued =
    last !== undefined &&
    typeof last.text === 'string' &&
    typeof part.text === 'string' &&
    (last.thought === true) === (part.thought === true)
  if (isContinued) last.text = `${String(last.text)}${String(part.text)}`
  else parts.push({ ...part })
}
