import { inPageProject } from './api-path.ts'
import { ApiError } from './fetch-json.ts'

export type Progress = { done: number; total: number }

type Line = Partial<Progress> & { result?: unknown; error?: { code?: string; message?: string } }

/**
 * Posts to an endpoint that answers with a line of JSON for each piece of work and one with the result. One that answers
 * with plain JSON is done when it answers.
 */
export async function workWithProgress<Result>(
  path: string,
  onProgress: (progress: Progress) => void,
): Promise<Result> {
  const response = await fetch(inPageProject(path, location.search), { method: 'POST' }).catch(() => {
    throw new ApiError(0, 'UNREACHABLE', 'The server does not answer. Is it still running?')
  })
  if (!response.ok || response.body === null) throw await refusal(response)
  if (response.headers.get('content-type')?.includes('ndjson') !== true)
    return (await response.json()) as Result
  let result: Result | undefined
  for await (const line of linesOf(response.body)) {
    const { done, total, error, ...rest } = JSON.parse(line) as Line
    if (error !== undefined) throw new ApiError(200, error.code ?? 'FAILED', error.message ?? 'It failed.')
    if (done !== undefined && total !== undefined) onProgress({ done, total })
    if ('result' in rest) result = rest.result as Result
  }
  if (result === undefined)
    throw new ApiError(0, 'CUT_OFF', 'The server stopped answering before it was done. Try again.')
  return result
}

async function refusal(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => undefined)) as Pick<Line, 'error'> | undefined
  return new ApiError(
    response.status,
    body?.error?.code ?? 'UNKNOWN',
    body?.error?.message ?? `The server answered ${response.status}.`,
  )
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const reader = stream
    .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    const lines = (rest + value).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') yield line
  }
  if (rest !== '') yield rest
}
