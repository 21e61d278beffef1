import { decodeTraces } from '../http/decode-otlp.ts'

/** An OTLP/JSON request with these spans. */
export function requestOf(...spans: unknown[]): Record<string, unknown> {
  return { resourceSpans: [{ scopeSpans: [{ spans }] }] }
}

export function decodeJson(request: unknown) {
  return decodeTraces(Buffer.from(typeof request === 'string' ? request : JSON.stringify(request)), 'json')
}
