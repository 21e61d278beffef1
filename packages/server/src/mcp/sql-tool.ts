import { countOf, oneLine } from '@playhead/model'
import { z } from 'zod'
import { describeTables } from '../sql/query-tables.ts'
import type { QueryResult } from '../sql/run-query.ts'
import { writeAnswer } from './answer.ts'
import { defineTool } from './tool.ts'

const MAX_CELL_LENGTH = 300

export const querySql = defineTool({
  name: 'query_sql',
  description: `Runs one read-only SELECT (ClickHouse SQL, 10 seconds, 1,000 rows) for questions that no other tool answers. Tables:
${describeTables()}
state is success, fail, indeterminate, running or lost. attributes is JSON: JSONExtractString(attributes, 'gen_ai.tool.call.arguments').`,
  input: z.object({
    sql: z.string().max(20_000),
    limit: z.number().int().min(1).max(1_000).default(50),
  }),
  async run({ sql, limit }, api) {
    const { columns, rows, isTruncated } = await api.post<QueryResult>('/api/query', { sql, limit })
    return writeAnswer({
      head: `${countOf(rows.length, 'row')}${isTruncated ? ', and there are more; ask with a higher limit or LIMIT … OFFSET' : ''}. Columns are separated by tabs.`,
      blocks: [columns.map(({ name }) => oneLine(name, 60)).join('\t'), ...rows.map(describeRow)],
      omitted: (first, count) =>
        `${countOf(count, 'row')} omitted; ask with LIMIT ${limit} OFFSET ${first - 1}, or select less.`,
    })
  },
})

function describeRow(row: readonly unknown[]): string {
  return row.map(describeCell).join('\t')
}

function describeCell(value: unknown): string {
  if (value === null) return 'NULL'
  return oneLine(typeof value === 'string' ? value : JSON.stringify(value), MAX_CELL_LENGTH)
}
