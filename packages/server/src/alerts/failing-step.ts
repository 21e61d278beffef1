import { sessionUrl } from '../access/addresses.ts'
import type { Example } from '../monitors/monitor-store.ts'
import type { Store } from '../store/connect.ts'

/** The step that probably made a session go wrong, and what kind of finding blames it. */
export type FirstSuspect = { stepId: string; stepName: string; kind: string; sentence: string }

/** The first suspects of some sessions. Sessions without one are missing. */
export async function readFirstSuspects(
  { client }: Pick<Store, 'client'>,
  project: string,
  ids: readonly string[],
): Promise<Map<string, FirstSuspect>> {
  if (ids.length === 0) return new Map()
  const result = await client.query({
    query: `SELECT session_id AS id, suspect_steps[1] AS stepId, suspect_names[1] AS stepName,
        suspect_kinds[1] AS kind, sentence FROM session_findings FINAL
      WHERE project = {project:String} AND session_id IN {ids:Array(String)} AND notEmpty(suspect_kinds)`,
    query_params: { project, ids: [...new Set(ids)] },
    format: 'JSONEachRow',
  })
  const rows = await result.json<FirstSuspect & { id: string }>()
  return new Map(rows.map(({ id, ...suspect }) => [id, suspect]))
}

/** The link to a session that shows why a monitor is bad: at the step that shows it, or else at its first suspect. */
export function linkExample(
  { sessionId, stepId }: Example,
  suspect: FirstSuspect | undefined,
  { project, origin }: { project: string; origin: string },
): { stepId?: string; url: string } {
  const url = new URL(sessionUrl(origin, { id: sessionId, project }))
  const step = stepId ?? suspect?.stepId
  if (step === undefined || step === '') return { url: url.href }
  url.searchParams.set('step', step)
  return { stepId: step, url: url.href }
}
