import { readdirSync, readFileSync } from 'node:fs'

const root = new URL('../../../fixtures/', import.meta.url)

export type RecordedRequest = { path: string; contentType: string; body: Buffer }

/** The requests in a folder of `fixtures/otlp`, in the order they were sent. */
export function otlpRequests(folder: string): RecordedRequest[] {
  const directory = new URL(`otlp/${folder}/`, root)
  return readdirSync(directory)
    .filter((file) => file.endsWith('.meta.json'))
    .sort()
    .flatMap((file) => {
      const meta = JSON.parse(readFileSync(new URL(file, directory), 'utf8')) as {
        url: string
        headers: Record<string, string>
      }
      const name = file.replace('.meta.json', '')
      const isBinary = meta.headers['content-type']?.includes('protobuf') === true
      const body = readFileSync(new URL(`${name}.${isBinary ? 'bin' : 'json'}`, directory))
      return /\/v1\/(traces|logs|metrics)/.test(meta.url)
        ? [{ path: meta.url, contentType: meta.headers['content-type'] ?? '', body }]
        : []
    })
}

export function otlpFolders(): string[] {
  return readdirSync(new URL('otlp/', root)).sort()
}

/** The OTLP requests in a folder of `fixtures/agentops-sdk`, byte for byte. */
export function agentOpsRequests(folder: string): RecordedRequest[] {
  const directory = new URL(`agentops-sdk/${folder}/`, root)
  return readdirSync(directory)
    .filter((file) => file.endsWith('v1_traces.json'))
    .sort()
    .map((file) => {
      const meta = JSON.parse(readFileSync(new URL(file, directory), 'utf8')) as {
        path: string
        headers: Record<string, string>
      }
      const contentType =
        Object.entries(meta.headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
      return {
        path: meta.path,
        contentType,
        body: readFileSync(new URL(file.replace('.json', '.body'), directory)),
      }
    })
}
