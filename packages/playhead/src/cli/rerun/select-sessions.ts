import { sessionFilterFields, type Session, type SessionSummary } from '@playhead/model'
import type { RunSpec } from '../../rerun/messages.ts'
import type { Api, Query } from '../client/api.ts'
import { readSessionPages, type SessionPage } from '../client/sessions.ts'
import { filterOptions, toFilterQuery } from '../commands/session-filter.ts'
import { didYouMean } from '../arguments/option-values.ts'
import { UsageError } from '../terminal/cli-error.ts'

/** Finds sessions with the filter of `ls` as one text: `status:fail tag:support since:7d "charged twice"`. */
export async function findSessions(api: Api, where: string, last: number): Promise<SessionSummary[]> {
  const query = { reruns: 'exclude', ...parseWhere(where) }
  const found: SessionSummary[] = []
  for await (const { sessions } of readSessionPages(api, query, last)) found.push(...sessions)
  return found
}

export function parseWhere(where: string): Query {
  const values: Record<string, string | string[]> = {}
  for (const [, key, quoted, word] of where.matchAll(/(?:([\w-]+):)?(?:"((?:\\.|[^"\\])*)"|(\S+))/g)) {
    const value = quoted === undefined ? word! : quoted.replaceAll(/\\(.)/g, '$1')
    addTerm(values, key, value)
  }
  return toFilterQuery(values)
}

function addTerm(values: Record<string, string | string[]>, key: string | undefined, value: string): void {
  const name = key === undefined ? 'text' : optionOf(key)
  const isList = filterOptions[name].type === 'list'
  const known = values[name]
  if (isList) values[name] = [...(Array.isArray(known) ? known : []), value]
  else if (name === 'text' && typeof known === 'string') values[name] = `${known} ${value}`
  else values[name] = value
}

/** The page's filter says `failedTool`, the options of `ls` say `failed-tool`. */
function optionOf(key: string): keyof typeof filterOptions {
  const dashed = key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const name = { from: 'since', to: 'until' }[dashed] ?? dashed
  if (Object.hasOwn(filterOptions, name)) return name as keyof typeof filterOptions
  const names = Object.keys(filterOptions)
  throw new UsageError(
    `--where can't use "${key}:".${didYouMean(key, [...names, ...Object.keys(sessionFilterFields)])}\nKnown: ${names.join(', ')}`,
  )
}

/** How many sessions are looked through for those that passed, how many of them are read, and up to how many steps. */
const LOOKED_THROUGH = 50
const READ = 5
const MOST_STEPS = 500

/**
 * The last sessions of the same agent that passed, first one with the same input. What they recorded stands in where a
 * live run does more than was recorded.
 */
export async function findPassing(
  api: Api,
  { parent: { session }, agent }: Pick<RunSpec, 'parent' | 'agent'>,
): Promise<Session[]> {
  // A session of a test has the name of the test; the agent's own sessions have that of the agent.
  const names = new Set([session.name, agent])
  const lists = await Promise.all([...names].map((name) => listPassing(api, name)))
  const passing = lists.flat().filter(({ id, stepCount }) => id !== session.id && stepCount <= MOST_STEPS)
  const alike = passing.filter(({ inputPreview }) => inputPreview === session.inputPreview)
  const chosen = new Set([...alike.slice(0, 1), ...passing])
  return Promise.all(
    [...chosen]
      .slice(0, READ)
      .map(({ id }) => api.json<Session>(`/api/sessions/${id}`, { query: { payloads: 'all' } })),
  )
}

async function listPassing(api: Api, name: string): Promise<SessionSummary[]> {
  const { sessions } = await api.json<SessionPage>('/api/sessions', {
    query: { name, status: ['success'], reruns: 'exclude', limit: String(LOOKED_THROUGH) },
  })
  return sessions.filter((session) => session.name === name)
}
