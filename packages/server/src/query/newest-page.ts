import { asksForReruns, type SessionSummary } from '@playhead/model'
import type { Store } from '../store/connect.ts'
import type { Place } from '../store/newest-sessions.ts'
import type { SummaryRow } from '../store/sessions-table.ts'
import type { ListQuery } from './list-sessions.ts'

type Shown = Partial<SessionSummary>
type Wanted = (shown: Shown, row: SummaryRow) => boolean

/** What memory can tell of each filter: the same as `sessionConditions` asks the store. */
const wantedBy: { [Field in keyof ListQuery]?: (value: NonNullable<ListQuery[Field]>) => Wanted } = {
  status:
    (states) =>
    (_, { state }) =>
      states.includes(state),
  tag:
    (tags) =>
    ({ tags: own = [] }) =>
      tags.every((tag) => own.includes(tag)),
  model:
    (models) =>
    ({ models: own = [] }) =>
      models.some((model) => own.includes(model)),
  tool:
    (tools) =>
    ({ tools: own = [] }) =>
      tools.every((tool) => own.includes(tool)),
  agent:
    (agents) =>
    ({ agents: own = [] }) =>
      agents.every((agent) => own.includes(agent)),
  user:
    (user) =>
    ({ userId = '' }) =>
      user === '' || userId === user,
  thread:
    (thread) =>
    ({ threadId = '' }) =>
      thread === '' || threadId === thread,
  environment:
    (name) =>
    ({ environment = '' }) =>
      name === '' || environment === name,
  version:
    (text) =>
    ({ version = '' }) =>
      text === '' || version === text,
  runId:
    (id) =>
    ({ test }) =>
      id === '' || (test?.runId ?? '') === id,
  variant:
    (id) =>
    ({ test }) =>
      id === '' || (test?.variant ?? '') === id,
  demo:
    (text) =>
    ({ demo = false }) =>
      demo === (text === 'true'),
  reruns:
    (reruns) =>
    ({ parentId = '' }) =>
      asksForReruns({ reruns }) || parentId === '',
  // Those that decide where the page begins and ends.
  sort: () => () => true,
  order: () => () => true,
  limit: () => () => true,
  cursor: () => () => true,
  from: () => () => true,
}

/** Whether memory knows all that a query asks about. */
export function isKnownToMemory(query: ListQuery): boolean {
  return Object.entries(query).every(([field, value]) => value === undefined || field in wantedBy)
}

/** A page of the newest sessions from memory; undefined if the store has to be asked. */
export function findNewestPage(
  { newest }: Store['sessions'],
  project: string,
  query: ListQuery,
  after: Place | undefined,
): SummaryRow[] | undefined {
  if (!isKnownToMemory(query)) return undefined
  const conditions: Wanted[] = []
  for (const [field, value] of Object.entries(query)) {
    if (value === undefined) continue
    const condition = wantedBy[field as keyof ListQuery] as (value: unknown) => Wanted
    conditions.push(condition(value))
  }
  return newest.find(project, {
    limit: query.limit + 1,
    after,
    fromUs: query.from === undefined ? undefined : query.from * 1_000,
    nowMs: Date.now(),
    isWanted: (shown, row) => conditions.every((isMet) => isMet(shown, row)),
  })
}
