import type { IncomingMessage } from 'node:http'
import type { Context } from 'hono'
import type { HeaderReader } from '../access/caller.ts'
import { KnownError } from '../errors/known-error.ts'
import { MAX_UNCOUNTED_JSON_BYTES } from '../ingest/limits.ts'
import { refuseHeavyJson } from '../ingest/otlp-json/json-body.ts'

/** The body, which the door has read. */
export function bodyOf(context: Context): Buffer {
  const { incoming } = context.env as { incoming: IncomingMessage & { rawBody?: Buffer } }
  return incoming.rawBody ?? Buffer.alloc(0)
}

export function readJsonObject(body: Buffer): Record<string, unknown> {
  const value = parseBody(body)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new KnownError('BAD_REQUEST', 'The body must be a JSON object.')
  return value as Record<string, unknown>
}

export function parseBody(body: Buffer): unknown {
  if (body.length > MAX_UNCOUNTED_JSON_BYTES) refuseHeavyJson(body)
  try {
    return JSON.parse(body.toString())
  } catch (error) {
    throw new KnownError('BAD_REQUEST', `The body is not JSON: ${(error as Error).message}`, { cause: error })
  }
}

export function headerOf(context: Context): HeaderReader {
  return (name) => context.req.header(name)
}

/** Accepts hex, or the decimal number that Python makes of the 128 bits of a trace id. */
export function traceIdOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  if (/^[0-9a-f]{32}$/i.test(text)) return text.toLowerCase()
  if (!/^\d{1,39}$/.test(text)) return undefined
  const hex = BigInt(text).toString(16).padStart(32, '0')
  return hex.length === 32 ? hex : undefined
}
