/** A response in the format of one API: the body, and the events if it is streamed. */
export type ProviderResponse = {
  whole: unknown
  events: string[]
  eventType: 'text/event-stream' | 'application/x-ndjson'
}

export function serverSentEvent(data: unknown, event?: string): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  return event === undefined ? `data: ${text}\n\n` : `event: ${event}\ndata: ${text}\n\n`
}

/** Splits a text into chunks, as models stream the arguments of a tool. */
export function inPieces(text: string, size = 12): string[] {
  const pieces: string[] = []
  for (let start = 0; start < text.length; start += size) pieces.push(text.slice(start, start + size))
  return pieces
}
