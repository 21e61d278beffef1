import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Gate } from '../access/caller.ts'
import { mayStill, projectOf, recordAudit } from '../access/request-project.ts'
import type { DevRunners, PairedPage } from '../live/dev-runners.ts'
import { streamEvents } from '../live/stream-events.ts'
import type { SessionReader } from '../sessions/session-reader.ts'
import { jobIdSchema } from './schemas/dev.ts'
import { acceptsBody, errorResponse, jsonRoute, projectParameter } from './route-parts.ts'

const RUNNER_HEADER = 'x-playhead-runner'
const PAIRING_HEADER = 'x-playhead-pairing'

const runnerHeaders = z.object({
  [RUNNER_HEADER]: z
    .string()
    .min(20)
    .max(200)
    .describe('a secret that the terminal chose; the same again after a lost connection'),
})
const pageHeaders = z.object({
  [PAIRING_HEADER]: z
    .string()
    .max(4_000)
    .default('')
    .describe('the tokens of the terminals that the browser is paired with, separated by commas'),
})
const query = z.object(projectParameter)
const params = z.object({ id: jobIdSchema })

const runnerRoute = createRoute({
  method: 'get',
  path: '/api/dev/runner',
  summary: 'Connects a terminal that runs jobs for the pages that are paired with it',
  request: {
    headers: runnerHeaders,
    query: query.extend({
      host: z.string().max(200),
      pid: z.coerce.number().int(),
      version: z.string().max(50),
      agent: z
        .union([z.string().max(200), z.array(z.string().max(200)).max(200)])
        .transform((value) => (Array.isArray(value) ? value : [value]))
        .default([])
        .describe('the agents of the config'),
    }),
  },
  responses: {
    200: {
      description:
        'Server-sent events: `code` (pairs the next browser), `job` (run it), `cancel` (end it). Send `Last-Event-ID` to resume after a lost connection; after ten seconds the terminal is gone.',
      content: { 'text/event-stream': { schema: z.string() } },
    },
    default: errorResponse,
  },
})

const pageRoute = createRoute({
  ...jsonRoute('GET /api/dev', 'The terminals, newest first, and their jobs'),
  summary: 'The terminals with `playhead dev` that this browser is paired with',
  request: { headers: pageHeaders, query },
})

const pairRoute = createRoute({
  ...jsonRoute('POST /api/dev/pair', 'The terminal, and the token that proves the pairing'),
  summary: 'Pairs a browser with the terminal that printed a code; each code works once',
  request: { query, ...acceptsBody('POST /api/dev/pair') },
})

const submitRoute = createRoute({
  ...jsonRoute('POST /api/dev/jobs', 'The job; `job` events of /api/live tell how it goes on', 202),
  summary: 'Runs a session again from a step, in the terminal that this browser is paired with',
  request: { headers: pageHeaders, query, ...acceptsBody('POST /api/dev/jobs') },
})

const cancelRoute = createRoute({
  ...jsonRoute('DELETE /api/dev/jobs/{id}', 'The job, which ends soon', 202),
  summary: 'Ends a job and everything that it started',
  request: { headers: pageHeaders, params, query },
})

const reportRoute = createRoute({
  ...jsonRoute('POST /api/dev/jobs/{id}/events', 'The job'),
  summary: 'What the terminal that has a job says about it',
  request: { headers: runnerHeaders, params, query, ...acceptsBody('POST /api/dev/jobs/{id}/events') },
})

/** `playhead dev`: pages and terminals need the scope `admin`; what runs, and with which rights, is up to the terminal. */
export function addDevRoutes(
  app: OpenAPIHono,
  { gate, runners, reader }: { gate: Gate; runners: DevRunners; reader: SessionReader },
): void {
  const editor = (context: Context) => projectOf(context, 'edit', gate)
  const page = (context: Context, tokens: string): PairedPage => ({
    project: editor(context),
    tokens: tokens.split(',').map((token) => token.trim()),
  })
  app.openapi(runnerRoute, (context) => {
    const { host, pid, version, agent: agents } = context.req.valid('query')
    const connection = {
      project: editor(context),
      secret: context.req.valid('header')[RUNNER_HEADER],
      about: { host, pid, version, agents },
      lastEventId: Number(context.req.header('last-event-id')) || 0,
    }
    return streamEvents(context, mayStill(context, 'edit', gate), (write, end) =>
      runners.connect(connection, { write, end }),
    )
  })
  app.openapi(pageRoute, (context) => {
    const paired = page(context, context.req.valid('header')[PAIRING_HEADER])
    return context.json({ runners: runners.runnersOf(paired), jobs: runners.jobsOf(paired) }, 200)
  })
  app.openapi(pairRoute, async (context) => {
    const project = editor(context)
    const paired = runners.pair(project, context.req.valid('json').code)
    const { host, pid } = paired.runner
    await recordAudit(context, gate, {
      action: 'terminal.paired',
      project,
      subject: `${host}, process ${pid}`,
    })
    return context.json(paired, 200)
  })
  app.openapi(submitRoute, async (context) => {
    const paired = page(context, context.req.valid('header')[PAIRING_HEADER])
    const request = context.req.valid('json')
    await reader.readStep(paired.project, request.sessionId, request.stepId)
    return context.json(runners.submit(paired, request), 202)
  })
  app.openapi(cancelRoute, (context) => {
    const paired = page(context, context.req.valid('header')[PAIRING_HEADER])
    return context.json(runners.cancel(paired, context.req.valid('param').id), 202)
  })
  app.openapi(reportRoute, (context) => {
    const runner = { project: editor(context), secret: context.req.valid('header')[RUNNER_HEADER] }
    const job = runners.report(runner, context.req.valid('param').id, context.req.valid('json'))
    return context.json(job, 200)
  })
}
