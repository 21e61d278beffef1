import { createRequire } from 'node:module'
import { join } from 'node:path'
import { visibleText, type TapedResponse } from '@playhead/model'
import { explainUnrecorded } from '../capture/calls/unrecorded-api.ts'
import type { TapeRequest } from '../record/session/active-tape.ts'

/** Why a request that is no model call has no answer. `otherwise` is said of one about which nothing more is known. */
export function explainOther(
  { method, url, headers }: TapeRequest,
  otherwise: (request: string) => string,
): string {
  if (headers['sec-websocket-key'] !== undefined) return explainWebSocket(url.host)
  return explainUnrecorded(url) ?? otherwise(visibleText(`${method} ${url.origin}${url.pathname}`))
}

export function explainWebSocket(target: string): string {
  return `The run opened a WebSocket to ${visibleText(target)}, and WebSockets are not recorded. Use it in a function that recordTool wraps.`
}

const tokenizerPath = /^\/js\/(\w+)\.json$/

/**
 * LangChain counts the tokens of streamed answers itself, and downloads a tokenizer for it, over and over if that fails.
 * The package that it has the code from contains the same file. Undefined for every other request.
 */
export function serveTokenizer({ url }: TapeRequest): TapedResponse | undefined {
  const [, name] = tokenizerPath.exec(url.pathname) ?? []
  if (url.hostname !== 'tiktoken.pages.dev' || name === undefined) return undefined
  const project = createRequire(join(process.cwd(), 'package.json'))
  for (const owner of ['.', '@langchain/core', '@langchain/openai'])
    try {
      const from = owner === '.' ? project : createRequire(project.resolve(owner))
      const ranks: unknown = from(`js-tiktoken/ranks/${name}`)
      const headers = { 'content-type': 'application/json' }
      return { kind: 'response', status: 200, headers, chunks: [JSON.stringify(ranks)] }
    } catch {
      // Not installed there.
    }
  return undefined
}
