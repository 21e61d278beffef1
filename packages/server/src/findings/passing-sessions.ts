import type { SessionSummary } from '@playhead/model'
import type { Store } from '../store/connect.ts'
import { hourBucket, STATE } from '../store/sessions-table.ts'

/** Sessions that are compared with each other are not older than this. */
const WINDOW_MS = 30 * 86_400_000

type Compared = Pick<SessionSummary, 'name'> & {
  inputPreview?: string | undefined
  test?: SessionSummary['test'] | undefined
}

/** What two sessions have in common that can be compared: the test, otherwise the name and the input. */
export function comparisonKey({ name, inputPreview, test }: Compared): string | undefined {
  if (test?.name !== undefined) return keyOf(['test', test.name, test.file ?? '', test.variant ?? ''])
  return inputPreview === undefined ? undefined : keyOf(['input', name, inputPreview])
}

/** The newest session that passed for each key. */
export async function findPassing(
  store: Store,
  project: string,
  keys: readonly string[],
): Promise<Map<string, string>> {
  const wanted = keys.map((key) => JSON.parse(key) as string[])
  const valuesOf = (kind: string) => wanted.flatMap(([first, ...values]) => (first === kind ? [values] : []))
  const found = await Promise.all([
    findNewest(store, project, { kind: 'test', columns: TEST_COLUMNS, values: valuesOf('test') }),
    findNewest(store, project, { kind: 'input', columns: INPUT_COLUMNS, values: valuesOf('input') }),
  ])
  return new Map(found.flat())
}

const TEST_COLUMNS = ['test_name', 'test_file', 'test_variant']
const INPUT_COLUMNS = ['name', 'input_preview']

type Wanted = { kind: 'test' | 'input'; columns: readonly string[]; values: readonly string[][] }

async function findNewest(
  { client }: Store,
  project: string,
  { kind, columns, values }: Wanted,
): Promise<[key: string, sessionId: string][]> {
  if (values.length === 0) return []
  const key = columns.map((column) => `toString(${column})`).join(', ')
  const nowMs = Date.now()
  const result = await client.query({
    query: `SELECT [${key}] AS key, argMax(session_id, started_at) AS id FROM sessions FINAL
      WHERE project = {project:String} AND bucket <= {since:UInt32} AND ${columns[0]} IN {first:Array(String)}
        AND key IN {values:Array(Array(String))} AND parent_id = '' AND ${STATE} = 'success'
      GROUP BY key`,
    query_params: {
      project,
      nowMs,
      since: hourBucket(nowMs - WINDOW_MS),
      first: [...new Set(values.map(([first]) => first!))],
      values,
    },
    format: 'JSONEachRow',
  })
  const rows = await result.json<{ key: string[]; id: string }>()
  return rows.map(({ key: own, id }) => [keyOf([kind, ...own]), id])
}

function keyOf(parts: readonly string[]): string {
  return JSON.stringify(parts)
}
