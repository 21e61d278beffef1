import { expect } from 'vitest'

type ReceivedEvent = { id: string; name: string; data: Record<string, unknown> }

export type EventStream = {
  status: number
  /** What arrived so far. */
  events: ReceivedEvent[]
  /** Waits until this many events of a name have arrived, and returns the data of the last. */
  waitFor(name: string, count?: number): Promise<Record<string, unknown>>
  close(): void
}

/** Reads server-sent events over a real connection. */
export async function openEvents(url: string, headers: Record<string, string> = {}): Promise<EventStream> {
  const stop = new AbortController()
  const response = await fetch(url, { headers, signal: stop.signal })
  const events: ReceivedEvent[] = []
  const isStream = response.headers.get('content-type') === 'text/event-stream'
  if (isStream) void readEvents(response.body!, events).catch(() => undefined)
  return {
    status: response.status,
    events,
    async waitFor(name, count = 1) {
      const named = () => events.filter((event) => event.name === name)
      await expect.poll(() => named().length, { timeout: 10_000 }).toBeGreaterThanOrEqual(count)
      return named()[count - 1]!.data
    },
    close: () => stop.abort(),
  }
}

async function readEvents(body: ReadableStream<Uint8Array>, events: ReceivedEvent[]): Promise<void> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of body) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
    rest = blocks.pop()!
    for (const block of blocks) {
      const [, id] = /^id: (.*)$/m.exec(block) ?? []
      const [, name] = /^event: (.*)$/m.exec(block) ?? []
      const [, data] = /^data: (.*)$/m.exec(block) ?? []
      if (id !== undefined && name !== undefined && data !== undefined)
        events.push({ id, name, data: JSON.parse(data) as Record<string, unknown> })
    }
  }
}
