import type { Api } from '../api.ts'
import type { Ask } from './contender.ts'

/** Asks once; the answer is read whole, as a client would. */
export async function ask(
  api: Api,
  { method, path, body, countOf }: Ask,
): Promise<{ count: number; bytes: number }> {
  const { status, text } = await api.send(method, path, body === undefined ? undefined : JSON.stringify(body))
  if (status !== 200) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 300)}`)
  return { count: countOf(JSON.parse(text) as never), bytes: Buffer.byteLength(text) }
}
