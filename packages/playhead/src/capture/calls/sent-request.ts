/** A request that a fork changed on its way to the network. */
export type SentRequest = { url: URL; body: Uint8Array }

/** On the response of such a request: where to find it. */
export const SENT_HEADER = 'x-playhead-sent'

/** Shared by the ES module and the CommonJS copy of this package. */
const KEY = Symbol.for('playhead.sent-requests.0')

const holder = globalThis as { [KEY]?: { last: number; requests: Map<string, SentRequest> } }

/** Keeps what was sent until it is forgotten, for the hook that saw only what the host asked for. */
export function keepSentRequest(request: SentRequest): { id: string; forget(): void } {
  const kept = (holder[KEY] ??= { last: 0, requests: new Map() })
  kept.last += 1
  const id = String(kept.last)
  kept.requests.set(id, request)
  return { id, forget: () => void kept.requests.delete(id) }
}

export function findSentRequest(id: string | undefined): SentRequest | undefined {
  return id === undefined ? undefined : holder[KEY]?.requests.get(id)
}
