import type { ClickHouseClient } from '@clickhouse/client'

/** Fields of a session whose values can be suggested. */
const valueLists = {
  tag: 'tags',
  model: 'models',
  tool: 'tools',
  agent: 'agents',
  error: 'error_types',
  user: '[user_id]',
  thread: '[thread_id]',
  environment: '[toString(environment)]',
  branch: '[toString(branch)]',
  test: '[toString(test_name)]',
  name: '[name]',
} as const satisfies Record<string, string>

export type FilterField = keyof typeof valueLists
export const filterFields = Object.keys(valueLists) as [FilterField, ...FilterField[]]

/** Suggestions come from the newest sessions: what nobody used lately is not worth a full read. */
const SESSIONS_LOOKED_AT = 100_000

export async function readFilterValues(
  client: ClickHouseClient,
  project: string,
  query: { field: FilterField; contains: string; limit: number },
): Promise<{ value: string; sessions: number }[]> {
  const result = await client.query({
    query: `SELECT arrayJoin(arrayDistinct(list)) AS value, count() AS sessions
      FROM (SELECT ${valueLists[query.field]} AS list FROM sessions WHERE project = {project:String} AND is_deleted = 0 ORDER BY bucket LIMIT ${SESSIONS_LOOKED_AT})
      WHERE value != '' AND positionCaseInsensitiveUTF8(value, {contains:String}) > 0
      GROUP BY value ORDER BY sessions DESC, value LIMIT {limit:UInt32}`,
    query_params: { project, contains: query.contains, limit: query.limit },
    format: 'JSONEachRow',
  })
  return result.json<{ value: string; sessions: number }>()
}
