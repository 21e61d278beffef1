import { inPageProject } from './api-path.ts'
import { noticeSilence } from './connection.ts'

const SILENCE = 'UNREACHABLE'

/** What the server said went wrong, and what to do. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** The server did not answer at all, which the frame of the page says once for all of it. */
export function isSilence(error: Error): boolean {
  return error instanceof ApiError && error.code === SILENCE
}

/** Asks the server that served the page, about the project that the page is about. Rejects with an `ApiError` for whatever is not a 2xx. */
export async function fetchJson<Answer>(
  path: string,
  options?: RequestInit & { json?: unknown },
): Promise<Answer> {
  const { json, ...init } = options ?? {}
  const response = await fetch(inPageProject(path, location.search), {
    ...init,
    ...(json !== undefined && {
      method: init.method ?? 'POST',
      body: JSON.stringify(json),
      headers: { 'content-type': 'application/json' },
    }),
  }).catch((cause: unknown) => {
    // Whoever left did not find the server silent.
    if (init.signal?.aborted === true) throw cause
    noticeSilence()
    throw new ApiError(0, SILENCE, 'The server does not answer. Is it still running?')
  })
  const body: unknown = await response.json().catch(() => undefined)
  if (response.ok) return body as Answer
  const error = (body as { error?: { code?: string; message?: string } } | undefined)?.error
  throw new ApiError(
    response.status,
    error?.code ?? 'UNKNOWN',
    error?.message ?? `The server answered ${response.status}.`,
  )
}
