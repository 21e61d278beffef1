import { describeMonitor, formatMonitorValue } from '@playhead/model'
import type { Example } from '../monitors/monitor-store.ts'
import type { Store } from '../store/connect.ts'
import { linkExample, readFirstSuspects, type FirstSuspect } from './failing-step.ts'
import type { NewsItem } from './find-news.ts'
import type { Alert, AlertSession } from './notification.ts'

const MAX_LINE = 300

export type ComposeOptions = {
  store: Pick<Store, 'client'>
  /** The address that people use. */
  origin: () => string
}

type SessionFacts = { name: string; input: string; suspect: FirstSuspect | undefined }

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
  example: Example,
  facts: SessionFacts | undefined,
  { project, origin, includesText }: { project: string; origin: string; includesText: boolean },
): AlertSession {
  const suspect = facts?.suspect
  const { sessionId, message } = example
  const text = [message, suspect?.sentence, facts?.input]
    .flatMap((line) => line?.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_LINE) || [])
    .filter((line, index, lines) => lines.indexOf(line) === index)
  return {
    name: facts?.name ?? sessionId.slice(0, 8),
    url: linkExample(example, suspect, { project, origin }).url,
    ...(suspect !== undefined && {
      suspect: { step: suspect.stepName, finding: suspect.kind.replaceAll('-', ' ') },
    }),
    ...(includesText && { text }),
  }
}

/** The name and the first suspect of some sessions. */
async function readFacts(
  store: Pick<Store, 'client'>,
  project: string,
  ids: readonly string[],
): Promise<Map<string, SessionFacts>> {
  if (ids.length === 0) return new Map()
  const [sessions, suspects] = await Promise.all([
    store.client.query({
      query: `SELECT session_id AS id, name, input_preview AS input FROM sessions FINAL
        WHERE project = {project:String} AND session_id IN {ids:Array(String)}`,
      query_params: { project, ids },
      format: 'JSONEachRow',
    }),
    readFirstSuspects(store, project, ids),
  ])
  const rows = await sessions.json<{ id: string; name: string; input: string }>()
  return new Map(rows.map(({ id, ...session }) => [id, { ...session, suspect: suspects.get(id) }]))
}
