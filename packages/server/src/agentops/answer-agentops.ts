import type { IncomingMessage } from 'node:http'
import type { Context } from 'hono'
import { answerError, KnownError } from '../errors/known-error.ts'
import { refuseHeavyJson } from '../ingest/otlp-json/json-body.ts'
import { MAX_UNCOUNTED_JSON_BYTES } from '../ingest/limits.ts'
import { withBody } from '../ingest/http/read-body.ts'
import type { Services } from '../process/services.ts'

type Answer = (context: Context) => Promise<Response> | Response

/** A route that AgentOps' SDKs call: they print `message`, where ours read `error`. */
export function answerAgentOps(services: Services, answer: Answer): Answer {
  return async (context) => {
    try {
      return await answer(context)
    } catch (error) {
      if (!(error instanceof KnownError)) throw error
      services.counters.requestsRefused += 1
      const { status, headers, body } = answerError(error)
      return context.json({ ...body, message: error.message }, status, headers)
    }
  }
}

/** Reads a body within the limits that OTLP has, and holds its share of memory until `use` has done with it. */
export async function withAgentOpsBody<Result>(
  context: Context,
  services: Services,
  use: (body: Buffer) => Promise<Result>,
): Promise<Result> {
  const { incoming } = context.env as { incoming: IncomingMessage }
  const { maxBodyBytes } = services.config
  const limits = { maxBytes: maxBodyBytes, maxInflatedBytes: maxBodyBytes, budget: services.budget }
  return withBody(incoming, limits, use)
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

export function headerOf(context: Context): (name: string) => string | undefined {
  return (name) => context.req.header(name)
}
