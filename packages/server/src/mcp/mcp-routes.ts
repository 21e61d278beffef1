import type { IncomingMessage } from 'node:http'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { originOf, type Site } from '../access/addresses.ts'
import type { Gate } from '../access/caller.ts'
import { projectOf } from '../access/request-project.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Diagnostics } from '../ingest/counters.ts'
import { ToolProblem, type ToolApi } from './tool.ts'

/** Names the terminals with `playhead dev` that the caller is paired with. Only then may it start anything. */
const PAIRING_HEADER = 'x-playhead-pairing'

type McpServices = Diagnostics & { gate: Gate; site: Site }

/**
 * The Model Context Protocol over HTTP, for coding agents. Each request stands alone, in the protocol of 2026-07-28 and in
 * those before it. The tools ask the routes of the API, which decide what the caller may see.
 */
export function addMcpRoutes(app: OpenAPIHono, services: McpServices): void {
  app.all('/mcp', async (context) => {
    if (context.req.method !== 'POST') {
      context.header('allow', 'POST')
      throw new KnownError('METHOD_NOT_ALLOWED', '/mcp takes POST requests of the Model Context Protocol.')
    }
    const project = projectOf(context, 'read', services.gate)
    const api = createToolApi(app, context, { project, site: services.site })
    const isPaired = (context.req.header(PAIRING_HEADER) ?? '') !== ''
    const body = await readJson(context)
    // Loaded with the first request: most servers get none.
    const { answerMcp } = await import('./mcp-server.ts')
    return answerMcp(context.req.raw, body, { api, isPaired, diagnostics: services })
  })
}

async function readJson(context: Context): Promise<unknown> {
  try {
    return await context.req.json()
  } catch (error) {
    throw new KnownError('BAD_REQUEST', 'The body is not JSON.', { cause: error })
  }
}

/** Headers that say who asks. All others are about the request itself. */
const callerHeaders = [
  'authorization',
  'cookie',
  'x-api-key',
  'x-playhead-key',
  'api_key',
  'api-key',
  PAIRING_HEADER,
]

/** Asks the app itself, as the caller of the tool. */
function createToolApi(
  app: OpenAPIHono,
  context: Context,
  { project, site }: { project: string; site: Site },
): ToolApi {
  const headers = new Headers({ 'x-playhead-project': project })
  for (const name of callerHeaders) {
    const value = context.req.header(name)
    if (value !== undefined) headers.set(name, value)
  }
  // Not `outgoing`: on that connection, this request is answered and not those of its tools.
  const { incoming } = context.env as { incoming?: IncomingMessage }
  const ask = async <Body>(url: URL, init: RequestInit): Promise<Body> => {
    const response = await app.request(url.href, init, { incoming })
    const body = (await response.json()) as Body & { error?: { message: string } }
    if (!response.ok)
      throw new ToolProblem(body.error?.message ?? `The server responded with ${response.status}.`)
    return body
  }
  return {
    origin: originOf(context.req.url, site),
    project,
    get(path, query = {}) {
      const url = new URL(path, context.req.url)
      for (const [name, value] of Object.entries(query))
        for (const one of [value].flat()) if (one !== undefined) url.searchParams.append(name, one)
      return ask(url, { headers })
    },
    post(path, body) {
      const json = new Headers(headers)
      json.set('content-type', 'application/json')
      return ask(new URL(path, context.req.url), {
        method: 'POST',
        headers: json,
        body: JSON.stringify(body),
      })
    },
  }
}
