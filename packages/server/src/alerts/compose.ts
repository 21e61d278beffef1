import { describeMonitor, formatMonitorValue } from '@playhead/model'
import { sessionUrl } from '../access/addresses.ts'
import type { Example } from '../monitors/monitor-store.ts'
import type { Store } from '../store/connect.ts'
import type { NewsItem } from './find-news.ts'
import type { Alert, AlertSession } from './notification.ts'

const MAX_LINE = 300

export type ComposeOptions = {
  store: Pick<Store, 'client'>
  /** The address that people use. */
  origin: () => string
}

type SessionFacts = {
  name: string
  input: string
  suspectStep: string
  suspectName: string
  suspectKind: string
  sentence: string
}

/** Says what happened, with links to sessions at their failing steps. What people and agents wrote is left out unless asked for. */
export async function composeAlerts(
  options: ComposeOptions,
  project: string,
  news: readonly NewsItem[],
  includesText: boolean,
): Promise<Alert[]> {
  const examples = news.flatMap(({ status, watched }) =>
    status === 'firing' ? (watched?.status.examples ?? []) : [],
  )
  const facts = await readFacts(options.store, project, [
    ...new Set(examples.map(({ sessionId }) => sessionId)),
  ])
  const origin = options.origin()
  return news.map(({ watched, ...item }) => ({
    ...item,
    name: watched?.monitor.name ?? item.monitorId,
    sentence: watched === undefined ? 'a monitor that was deleted' : describeMonitor(watched.monitor),
    value: valueOf(watched),
    sessions:
      item.status === 'resolved'
        ? []
        : (watched?.status.examples ?? []).map((example) =>
            toSession(example, facts.get(example.sessionId), { project, origin, includesText }),
          ),
    url: monitorsUrl(origin, project),
  }))
}

/** Settings → Monitors. */
export function monitorsUrl(origin: string, project: string): string {
  return `${origin}/settings/monitors?project=${encodeURIComponent(project)}`
}

function valueOf(watched: NewsItem['watched']): string | null {
  if (watched === undefined || watched.status.value === null) return null
  return formatMonitorValue(watched.monitor.condition, watched.status.value)
}

function toSession(
  { sessionId, stepId, message }: Example,
  facts: SessionFacts | undefined,
  { project, origin, includesText }: { project: string; origin: string; includesText: boolean },
): AlertSession {
  const url = new URL(sessionUrl(origin, { id: sessionId, project }))
  const step = stepId ?? facts?.suspectStep
  if (step !== undefined && step !== '') url.searchParams.set('step', step)
  const text = [message, facts?.sentence, facts?.input]
    .flatMap((line) => line?.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_LINE) || [])
    .filter((line, index, lines) => lines.indexOf(line) === index)
  return {
    name: facts?.name ?? sessionId.slice(0, 8),
    url: url.href,
    ...(facts !== undefined &&
      facts.suspectKind !== '' && {
        suspect: { step: facts.suspectName, finding: facts.suspectKind.replaceAll('-', ' ') },
      }),
    ...(includesText && { text }),
  }
}

/** The name and the first suspect of some sessions. */
async function readFacts(
  { client }: Pick<Store, 'client'>,
  project: string,
  ids: readonly string[],
): Promise<Map<string, SessionFacts>> {
  if (ids.length === 0) return new Map()
  const read = async <Row>(query: string) => {
    const result = await client.query({ query, query_params: { project, ids }, format: 'JSONEachRow' })
    return result.json<Row & { id: string }>()
  }
  const [sessions, suspects] = await Promise.all([
    read<Pick<SessionFacts, 'name' | 'input'>>(
      `SELECT session_id AS id, name, input_preview AS input FROM sessions FINAL
        WHERE project = {project:String} AND session_id IN {ids:Array(String)}`,
    ),
    read<Omit<SessionFacts, 'name' | 'input'>>(
      `SELECT session_id AS id, suspect_steps[1] AS suspectStep, suspect_names[1] AS suspectName,
          suspect_kinds[1] AS suspectKind, sentence FROM session_findings FINAL
        WHERE project = {project:String} AND session_id IN {ids:Array(String)}`,
    ),
  ])
  const none = { suspectStep: '', suspectName: '', suspectKind: '', sentence: '' }
  return new Map(
    sessions.map(({ id, ...session }) => [
      id,
      { ...none, ...suspects.find((suspect) => suspect.id === id), ...session },
    ]),
  )
}
