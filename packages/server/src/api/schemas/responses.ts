import { z } from '@hono/zod-openapi'
import type { SessionSummary, Step } from '@playhead/model'
import { evidenceSchema, tapeGapSchema } from './rerun.ts'
import { scoreSchema, sessionSummarySchema, skeletonSchema, stepSchema } from './session.ts'
import type { OnTheWire } from './on-the-wire.ts'
import { auditEntrySchema } from './audit.ts'
import { findingsSchema, issueDetailSchema, issueSchema, listedSuspectSchema } from './findings.ts'
import { jobSchema, runnerSchema, type Job } from './dev.ts'
import {
  createdDestinationSchema,
  deliverySchema,
  destinationSchema,
  savedDestinationSchema,
} from './alerts.ts'
import { monitorPreviewSchema, watchedMonitorSchema } from './monitors.ts'
import { lastRestoreSchema, restorePlanSchema } from './restore.ts'
import {
  callerSchema,
  healthSchema,
  keySchema,
  loginSchema,
  personSchema,
  projectSchema,
  usageSchema,
} from './settings.ts'
import { openedShareSchema, shareSchema } from './shares.ts'
import { graphSchema, statsSchema, testSchema } from './statistics.ts'

const ok = z.object({ ok: z.literal(true) })

const scoresSchema = z
  .array(scoreSchema)
  .optional()
  .describe('all scores of the session and its steps, newest first; absent if there are none')

const longSchema = skeletonSchema
  .optional()
  .describe('with `long=skeleton`, of a long session: all steps; `steps` are then those that come whole')

const someStepsSchema = z.object({ steps: z.array(stepSchema) })

/** The JSON that each route of the API responds with. */
export const responseSchemas = {
  'GET /api/sessions': z.object({
    sessions: z.array(
      sessionSummarySchema.extend({
        suspect: listedSuspectSchema
          .optional()
          .describe('with `suspects=true`: the first suspect, if something went wrong'),
      }),
    ),
    nextCursor: z.string().optional(),
  }),
  'GET /api/sessions/{id}/findings': findingsSchema,
  'GET /api/issues': z.object({
    issues: z.array(issueSchema),
    omitted: z
      .number()
      .describe('issues that are not listed, in any state: beyond 1,000, those that were seen longest ago'),
  }),
  'GET /api/issues/{id}': issueDetailSchema,
  'PATCH /api/issues/{id}': issueSchema,
  'POST /api/query': z.object({
    columns: z.array(z.object({ name: z.string(), type: z.string().describe("ClickHouse's name of it") })),
    rows: z.array(z.array(z.unknown())),
    isTruncated: z.boolean().describe('there are more rows than `limit`'),
    elapsedMs: z.number(),
  }),
  'GET /api/monitors': z.object({ monitors: z.array(watchedMonitorSchema) }),
  'POST /api/monitors': watchedMonitorSchema,
  'PATCH /api/monitors/{id}': watchedMonitorSchema,
  'DELETE /api/monitors/{id}': z.object({ deleted: z.string() }),
  'GET /api/monitors/{id}/preview': monitorPreviewSchema,
  'POST /api/monitors/preview': monitorPreviewSchema,
  'GET /api/destinations': z.object({ destinations: z.array(destinationSchema) }),
  'POST /api/destinations': createdDestinationSchema,
  'PATCH /api/destinations/{id}': savedDestinationSchema,
  'DELETE /api/destinations/{id}': z.object({ deleted: z.string() }),
  'POST /api/destinations/{id}/test': deliverySchema,
  'GET /api/deliveries': z.object({ deliveries: z.array(deliverySchema) }),
  'GET /api/sessions/{id}': z.object({
    session: sessionSummarySchema,
    steps: z.array(stepSchema),
    skeleton: longSchema,
    scores: scoresSchema,
    tapeGaps: z
      .array(tapeGapSchema)
      .optional()
      .describe(
        'what keeps the session from being run again from its tape; absent while it runs, without payloads, and if it is too large to look through',
      ),
  }),
  'GET /api/sessions/{id}/reruns': z.object({
    reruns: z.array(sessionSummarySchema),
    evidence: z.array(evidenceSchema).describe('what the forks show, by step and edit'),
  }),
  'GET /api/sessions/{id}/steps': someStepsSchema,
  'GET /api/sessions/{id}/steps/{stepId}': stepSchema,
  'POST /api/sessions/{id}/scores': scoreSchema,
  'POST /api/sessions/{id}/shares': z.object({
    share: shareSchema,
    url: z.string().describe('the link; only this response contains it'),
  }),
  'GET /api/shares': z.object({ shares: z.array(shareSchema) }),
  'DELETE /api/shares/{id}': shareSchema,
  'GET /api/shared/session': z.object({
    session: sessionSummarySchema,
    steps: z.array(stepSchema),
    skeleton: longSchema,
    scores: scoresSchema,
    share: openedShareSchema,
  }),
  'GET /api/shared/session/steps': someStepsSchema,
  'GET /api/shared/session/steps/{stepId}': stepSchema,
  'GET /api/shared/session/findings': findingsSchema,
  'GET /api/sessions/{id}/recording': z.object({
    version: z.number(),
    exportedAt: z.iso.datetime(),
    session: sessionSummarySchema,
    steps: z.array(stepSchema),
    scores: scoresSchema,
  }),
  'GET /api/sessions/{id}/recording.otlp': z.looseObject({ resourceSpans: z.array(z.unknown()) }),
  'DELETE /api/sessions/{id}': z.object({ deleted: z.string() }),
  'PATCH /api/sessions/{id}': sessionSummarySchema,
  'POST /api/sessions/delete': z.object({ deleted: z.array(z.string()) }),
  'GET /api/values': z.object({ values: z.array(z.object({ value: z.string(), sessions: z.number() })) }),
  'GET /api/stats': statsSchema,
  'GET /api/tests': z.object({ tests: z.array(testSchema) }),
  'GET /api/graph': graphSchema,
  'GET /api/graph/sessions': z.object({ sessions: z.array(sessionSummarySchema) }),
  'GET /api/dev': z.object({ runners: z.array(runnerSchema), jobs: z.array(jobSchema) }),
  'POST /api/dev/pair': z.object({
    token: z.string().describe('send it in the header x-playhead-pairing'),
    runner: runnerSchema,
  }),
  'POST /api/dev/jobs': jobSchema,
  'DELETE /api/dev/jobs/{id}': jobSchema,
  'POST /api/dev/jobs/{id}/events': jobSchema,
  'GET /api/projects': z.object({ projects: z.array(projectSchema) }),
  'POST /api/projects': projectSchema,
  'PATCH /api/projects/{project}': projectSchema,
  'GET /api/projects/{project}/usage': usageSchema,
  'GET /api/people': z.object({ people: z.array(personSchema) }),
  'PATCH /api/people/{id}': personSchema,
  'GET /api/keys': z.object({ keys: z.array(keySchema) }),
  'POST /api/keys': z.object({ key: keySchema, secret: z.string() }),
  'DELETE /api/keys/{id}': keySchema,
  'GET /api/audit': z.object({ entries: z.array(auditEntrySchema), nextCursor: z.string().optional() }),
  'GET /api/logins': z.object({ logins: z.array(loginSchema) }),
  'DELETE /api/logins/{id}': ok,
  'POST /api/logins/end-others': z.object({ ended: z.number() }),
  'GET /api/me': callerSchema,
  'POST /api/login': ok,
  'POST /api/logout': ok,
  'GET /api/health': healthSchema,
  'GET /api/demo': z.object({ isAvailable: z.boolean() }),
  'POST /api/demo': ok,
  'POST /api/restore': z.object({ isDryRun: z.boolean(), plan: restorePlanSchema }),
  'GET /api/restore': lastRestoreSchema,
  'POST /api/restore/undo': z.object({ undone: restorePlanSchema }),
} as const satisfies Record<string, z.ZodType>

/** The type of each route's response. */
export type ApiResponses = {
  [Route in keyof typeof responseSchemas]: OnTheWire<(typeof responseSchemas)[Route]>
}

/** The last line of each route that reports its progress in lines of JSON. */
export const progressResultSchemas = {
  'POST /api/reprice': z.object({
    project: z.string(),
    sessions: z.number(),
    steps: z.number(),
    models: z
      .array(
        z.object({
          model: z.string(),
          steps: z.number(),
          before: z.number().nullable(),
          after: z.number().nullable(),
        }),
      )
      .describe('costs before and after, of the steps whose cost changed'),
    unpricedModels: z.array(z.string()).describe('models in use that still have no price'),
  }),
  'POST /api/rederive': z.object({
    project: z.string(),
    sessions: z.number(),
    steps: z.number(),
    findings: z.number().describe('sessions whose findings were computed again'),
    normalizerVersion: z.number(),
  }),
} as const satisfies Record<string, z.ZodType>

export type ProgressResults = {
  [Route in keyof typeof progressResultSchemas]: OnTheWire<(typeof progressResultSchemas)[Route]>
}

/** A line of such a response. */
export type ProgressLine<Result> =
  | { done: number; total: number }
  | { result: Result }
  | { error: { code: string; message: string } }

/** A server-sent event of the live routes: `type` is the event's name, the rest is its data. `reset`: events were missed, request the session again. */
export type LiveEvent =
  | { type: 'step'; sessionId: string; step: Step }
  | { type: 'session'; sessionId: string; session: SessionSummary }
  | { type: 'reset' }

/** An event of a project's live route, about a job of `playhead dev`. */
export type LiveJobEvent = { type: 'job' } & Job

export const errorSchema = z
  .object({
    error: z.object({ code: z.string(), message: z.string().describe('what happened and how to fix it') }),
  })
  .openapi('Error')
