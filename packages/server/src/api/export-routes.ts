import { Readable } from 'node:stream'
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import type { Gate } from '../access/caller.ts'
import { projectOf, recordAudit } from '../access/request-project.ts'
import { KnownError } from '../errors/known-error.ts'
import { exportSpans } from '../export/export-spans.ts'
import { exportFormats, exportTable, type ExportFormat } from '../export/export-tables.ts'
import { sessionFilterSchema } from '../query/session-filter.ts'
import type { SessionReader } from '../sessions/session-reader.ts'
import type { SqlQueries } from '../sql/run-query.ts'
import type { Store } from '../store/connect.ts'
import { acceptsBody, errorResponse, jsonRoute, projectParameter } from './route-parts.ts'

const formatNames = Object.keys(exportFormats) as [ExportFormat, ...ExportFormat[]]

const exportRoute = createRoute({
  method: 'get',
  path: '/api/export',
  summary: 'The sessions that match a filter, their steps, or their spans, as one file',
  request: {
    query: sessionFilterSchema.extend({
      ...projectParameter,
      of: z
        .enum(['sessions', 'steps', 'spans'])
        .default('sessions')
        .describe(
          '`spans` is a line of OTLP/JSON for each session, which `playhead import` reads; only as jsonl',
        ),
      format: z.enum(formatNames).default('parquet'),
    }),
  },
  responses: {
    200: {
      description: 'The file',
      content: { 'application/octet-stream': { schema: z.string().openapi({ format: 'binary' }) } },
    },
    default: errorResponse,
  },
})

export type ExportServices = {
  gate: Gate
  store: Store
  reader: SessionReader
  catchUp: () => Promise<void>
}

export function addExportRoutes(app: OpenAPIHono, services: ExportServices): void {
  const { gate, store, catchUp } = services
  app.openapi(exportRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    const { of, format, project: _project, ...filter } = context.req.valid('query')
    if (of === 'spans' && format !== 'jsonl')
      throw new KnownError('BAD_REQUEST', 'Spans are exported as jsonl only: add format=jsonl.')
    await catchUp()
    const detail = `${of} as ${format}`
    await recordAudit(context, gate, { action: 'sessions.exported', project, subject: detail })
    const content =
      of === 'spans'
        ? exportSpans(services, project, filter)
        : await exportTable(store, project, { table: of, format, filter })
    return new Response(Readable.toWeb(content) as ReadableStream, {
      headers: {
        'content-type': exportFormats[format].type,
        'content-disposition': `attachment; filename="${of}.${format}"`,
        'x-content-type-options': 'nosniff',
      },
    })
  })
}

const queryRoute = createRoute({
  ...jsonRoute('POST /api/query', 'The rows'),
  summary:
    'Runs one SELECT on the tables of the project: sessions, actions, llm_calls, errors, findings, steps',
  request: { query: z.object(projectParameter), ...acceptsBody('POST /api/query') },
})

export function addQueryRoutes(
  app: OpenAPIHono,
  { gate, sql, catchUp }: { gate: Gate; sql: SqlQueries; catchUp: () => Promise<void> },
): void {
  app.openapi(queryRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    const { sql: statement, limit } = context.req.valid('json')
    await catchUp()
    return context.json(await sql.run(project, statement, limit), 200)
  })
}
