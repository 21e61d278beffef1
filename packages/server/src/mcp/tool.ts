import {
  filterKeys,
  parseFilter,
  parseSessionIdPrefix,
  type Session,
  type SessionSummary,
} from '@playhead/model'
import type { z } from 'zod'

type Query = Record<string, string | readonly string[] | undefined>

/** The HTTP API of this server, as the caller of a tool may use it. Throws what the API says about a failed request. */
export type ToolApi = {
  /** The address of the dashboard. */
  origin: string
  project: string
  get<Body>(path: string, query?: Query): Promise<Body>
  post<Body>(path: string, body: unknown): Promise<Body>
}

export type Tool<Shape extends z.ZodType = z.ZodType> = {
  name: string
  description: string
  input: Shape
  /** A tool that starts something. All others only read. */
  isWrite?: boolean
  run(given: z.output<Shape>, api: ToolApi): Promise<string>
}

export function defineTool<Shape extends z.ZodType>(tool: Tool<Shape>): Tool {
  return tool
}

/** What the caller got wrong, or what is not there. */
export class ToolProblem extends Error {}

/** The query of the API for a filter such as `status:fail tag:support from:24h`. */
export function parseWhere(where: string | undefined): Query {
  const { terms, parameters } = parseFilter(where ?? '')
  const problems = terms.flatMap(({ problem }) => problem ?? [])
  if (problems.length === 0) return parameters
  throw new ToolProblem(`${problems.join(' ')} Keys: ${filterKeys.map(({ name }) => name).join(', ')}.`)
}

/** Finds the session that a caller named: by id, as `last` or `last-failed`, or as the newest that matches a filter. */
export async function findSession(api: ToolApi, named: string): Promise<string> {
  const text = named.trim()
  const id = text.includes(':') ? undefined : parseSessionIdPrefix(text)
  if (id !== undefined) return id
  const where = text === 'last' ? '' : text === 'last-failed' ? 'status:fail reruns:exclude' : text
  const page = await api.get<{ sessions: SessionSummary[] }>('/api/sessions', {
    ...parseWhere(where),
    limit: '1',
  })
  const [newest] = page.sessions
  if (newest !== undefined) return newest.id
  throw new ToolProblem(`No session matches ${where === '' ? 'here: the project is empty' : where}.`)
}

/** Sessions up to this size are read whole. */
const MAX_WHOLE_STEPS = 2_000

/** A session with the payloads of its steps; those of a long one are read as needed, with `readStep`. */
export async function readWhole(api: ToolApi, named: string): Promise<Session> {
  const id = await findSession(api, named)
  const outline = await api.get<Session>(`/api/sessions/${id}`, { payloads: 'none' })
  if (outline.steps.length > MAX_WHOLE_STEPS) return outline
  return api.get<Session>(`/api/sessions/${id}`, { payloads: 'all' })
}

/** A link to the dashboard. */
export function linkTo(api: ToolApi, path: string, query: Record<string, string | undefined> = {}): string {
  const url = new URL(path, api.origin)
  for (const [name, value] of Object.entries(query)) if (value) url.searchParams.set(name, value)
  if (api.project !== 'default') url.searchParams.set('project', api.project)
  return url.href
}
