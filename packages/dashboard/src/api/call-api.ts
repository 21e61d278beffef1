import type { ApiBodies, ApiResponses, ProgressLine, ProgressResults } from '@playhead/server/api-types'
import { reportUnreachable } from './connection.ts'

const UNREACHABLE = 'UNREACHABLE'

/** An error response of the server; the message says what to do about it. */
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

/** Whether the server did not respond at all; the shell shows one notice for that. */
export function isUnreachable(error: Error): boolean {
  return error instanceof ApiError && error.code === UNREACHABLE
}

export type QueryParameters = Readonly<
  Record<string, string | number | boolean | readonly string[] | null | undefined>
>

/** The names in braces of a route: `id` of `GET /api/sessions/{id}`. */
type PathParameter<Route extends string> = Route extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParameter<Rest>
  : never

type Call<Route extends string> = {
  query?: QueryParameters
  /** The body of a route that takes a file. */
  file?: File
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
} & ([PathParameter<Route>] extends [never] ? unknown : { path: Record<PathParameter<Route>, string> }) &
  (Route extends keyof ApiBodies ? { body: ApiBodies[Route] } : unknown)

/** Calls a route of the server that served the page, for the page's project. Rejects with an `ApiError` unless the status is 2xx. */
export async function callApi<Route extends keyof ApiResponses>(
  route: Route,
  call: Call<Route>,
): Promise<ApiResponses[Route]> {
  const response = await send(route, call)
  return (await response.json()) as ApiResponses[Route]
}

export type Progress = { done: number; total: number }

/** Calls a route that reports its progress in lines of JSON; resolves with its result. */
export async function callWithProgress<Route extends keyof ProgressResults>(
  route: Route,
  call: Call<Route>,
  onProgress: (progress: Progress) => void,
): Promise<ProgressResults[Route]> {
  const response = await send(route, call)
  for await (const text of linesOf(response.body!)) {
    const line = JSON.parse(text) as ProgressLine<ProgressResults[Route]>
    if ('error' in line) throw new ApiError(200, line.error.code, line.error.message)
    if ('result' in line) return line.result
    onProgress(line)
  }
  throw new ApiError(0, 'CUT_OFF', 'The server stopped before it was done. Try again.')
}

async function send(
  route: string,
  call: {
    path?: Record<string, string>
    query?: QueryParameters
    body?: unknown
    file?: File
    headers?: Record<string, string>
    signal?: AbortSignal | undefined
  },
): Promise<Response> {
  const [method, template] = route.split(' ') as [string, string]
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(call.path![name]!))
  const response = await fetch(inPageProject(apiPath(path, call.query), location.search), {
    method,
    ...(call.signal !== undefined && { signal: call.signal }),
    headers: {
      ...call.headers,
      ...(call.file !== undefined && { 'content-type': 'application/x-tar' }),
      ...(call.body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(call.file !== undefined && { body: call.file }),
    ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
  }).catch((cause: unknown) => {
    // A request that the page itself cancelled says nothing about the server.
    if (call.signal?.aborted === true) throw cause
    reportUnreachable()
    throw new ApiError(0, UNREACHABLE, 'The server does not respond. Is it still running?')
  })
  if (!response.ok) throw await readError(response)
  return response
}

async function readError(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => undefined)) as
    | { error?: { code?: string; message?: string } }
    | undefined
  return new ApiError(
    response.status,
    body?.error?.code ?? 'UNKNOWN',
    body?.error?.message ?? `The server responded with status ${response.status}.`,
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

/** A path with its query; parameters without a value are left out, lists are repeated. */
export function apiPath(path: string, parameters: QueryParameters = {}): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === null) continue
    for (const item of typeof value === 'object' ? value : [value]) query.append(name, String(item))
  }
  const text = query.toString()
  return text === '' ? path : `${path}?${text}`
}

/** Adds the project of the page's address, unless the path names one itself. */
export function inPageProject(path: string, pageQuery: string): string {
  const project = new URLSearchParams(pageQuery).get('project')
  if (project === null || !path.startsWith('/api/') || /[?&]project=/.test(path)) return path
  return `${path}${path.includes('?') ? '&' : '?'}project=${encodeURIComponent(project)}`
}
