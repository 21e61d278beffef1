import type { Session } from '@playhead/model'

/** Shorter sessions are answered in one piece. */
export const STREAMED_FROM_STEPS = 4_000
const STEPS_A_PIECE = 2_000

/** A long session as JSON, piece by piece: the first is on its way while the last is made, and others get their turn. */
export function streamSession(answer: Session): Response {
  const bytes = ReadableStream.from(encode(piecesOf(answer)))
  return new Response(bytes, { headers: { 'content-type': 'application/json' } })
}

function* piecesOf({ session, steps }: Session): Generator<string> {
  yield `{"session":${JSON.stringify(session)},"steps":[`
  for (let at = 0; at < steps.length; at += STEPS_A_PIECE) {
    const piece = JSON.stringify(steps.slice(at, at + STEPS_A_PIECE)).slice(1, -1)
    yield at === 0 ? piece : `,${piece}`
  }
  yield ']}'
}

function* encode(pieces: Iterable<string>): Generator<Uint8Array> {
  const encoder = new TextEncoder()
  for (const piece of pieces) yield encoder.encode(piece)
}
