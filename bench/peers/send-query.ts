import type { Api } from '../harness/api.ts'
import type { Query } from './contender.ts'

/** Sends a query and reads the whole response, as a client would. */
export async function sendQuery(
  api: Api,
  { method, path, body, countOf }: Query,
): Promise<{ count: number; bytes: number }> {
  const { status, text } = await api.send(method, path, body === undefined ? undefined : JSON.stringify(body))
  if (status !== 200) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 300)}`)
  return { count: countOf(JSON.parse(text) as never), bytes: Buffer.byteLength(text) }
}
