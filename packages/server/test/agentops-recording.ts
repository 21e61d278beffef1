import { readdirSync, readFileSync } from 'node:fs'

export type RecordedCall = {
  method: string
  path: string
  headers: Record<string, string>
  body: Buffer
}

/** Every request of one folder of `fixtures/agentops-sdk`, in the order in which it was sent. */
export function agentOpsRecording(folder: string): RecordedCall[] {
  const directory = new URL(`../../../fixtures/agentops-sdk/${folder}/`, import.meta.url)
  return readdirSync(directory)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => {
      const { method, path, headers } = JSON.parse(
        readFileSync(new URL(file, directory), 'utf8'),
      ) as RecordedCall
      const body = readFileSync(new URL(file.replace('.json', '.body'), directory))
      return { method, path, headers, body }
    })
}

/** Headers that the HTTP client sets itself. */
const written = new Set(['host', 'connection', 'keep-alive', 'content-length', 'accept-encoding'])

function ownHeaders(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]): [string, string] => [name.toLowerCase(), value])
      .filter(([name]) => !written.has(name)),
  )
}

/**
 * Sends a recording, each body byte for byte. Its tokens belong to the server it was recorded with, so they are replaced by
 * those of this server.
 */
export async function replay(
  calls: readonly RecordedCall[],
  url: string,
  otherHeaders: Record<string, string> = {},
): Promise<{ path: string; status: number; answer: unknown }[]> {
  const answers: { path: string; status: number; answer: unknown }[] = []
  let token: string | undefined
  for (const { method, path, headers: recorded, body } of calls) {
    const headers = ownHeaders(recorded)
    const authorization = headers.authorization === undefined ? {} : { authorization: `Bearer ${token}` }
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, ...authorization, ...replacements(headers, otherHeaders) },
      body: new Uint8Array(body),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') === true
    const answer: unknown = isJson ? JSON.parse(text) : text
    const given = answer as { token?: string; jwt?: string } | null
    token = given?.token ?? given?.jwt ?? token
    answers.push({ path, status: response.status, answer })
  }
  return answers
}

/** Replaces AgentOps' headers if they were sent, and adds ours. */
function replacements(sent: Record<string, string>, others: Record<string, string>): Record<string, string> {
  const isMeant = (name: string) => name in sent || name.startsWith('x-playhead-')
  return Object.fromEntries(Object.entries(others).filter(([name]) => isMeant(name)))
}
