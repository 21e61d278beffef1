import { z } from '@hono/zod-openapi'
import { destinationChangeSchema, newDestinationSchema } from './alerts.ts'
import { jobEventSchema, jobRequestSchema } from './dev.ts'
import { issueChangeSchema } from './findings.ts'
import { monitorChangeSchema, newMonitorSchema } from './monitors.ts'
import { newScoreSchema } from './scores.ts'
import { newShareSchema } from './shares.ts'
import { keyFormats, priceOverrideSchema, roles, scopes } from './settings.ts'

const MAX_DELETED_SESSIONS = 1_000
const MAX_TAG_LENGTH = 200
const MAX_EDITED_TAGS = 100
/** The longest statement, and the most rows that it may return. */
export const MAX_SQL_LENGTH = 20_000
export const MAX_SQL_ROWS = 1_000
const MAX_LOGIN_SECONDS = 30 * 86_400

const tagsSchema = z.array(z.string().trim().min(1).max(MAX_TAG_LENGTH)).max(MAX_EDITED_TAGS).default([])

/** The JSON body that each route of the API accepts. */
export const bodySchemas = {
  'POST /api/login': z.object({
    password: z.string().max(1_000),
    lastsSeconds: z.number().int().min(60).max(MAX_LOGIN_SECONDS).optional().describe('default: 30 days'),
  }),
  'POST /api/sessions/delete': z.object({
    ids: z
      .array(z.string().regex(/^[0-9a-f]{32}$/, 'must be 32 hex digits'))
      .min(1)
      .max(MAX_DELETED_SESSIONS),
  }),
  'PATCH /api/sessions/{id}': z.object({
    tags: z
      .object({ add: tagsSchema, remove: tagsSchema })
      .refine(({ add, remove }) => add.length + remove.length > 0, 'must add or remove a tag')
      .refine(({ add, remove }) => !add.some((tag) => remove.includes(tag)), "can't add and remove one tag"),
  }),
  'POST /api/sessions/{id}/scores': newScoreSchema,
  'POST /api/sessions/{id}/shares': newShareSchema,
  'PATCH /api/issues/{id}': issueChangeSchema,
  'POST /api/monitors': newMonitorSchema,
  'PATCH /api/monitors/{id}': monitorChangeSchema,
  'POST /api/monitors/preview': newMonitorSchema,
  'POST /api/destinations': newDestinationSchema,
  'PATCH /api/destinations/{id}': destinationChangeSchema,
  'POST /api/dev/pair': z.object({ code: z.string().min(1).max(200) }),
  'POST /api/dev/jobs': jobRequestSchema,
  'POST /api/dev/jobs/{id}/events': jobEventSchema,
  'POST /api/query': z.object({
    sql: z.string().min(1).max(MAX_SQL_LENGTH).describe('one SELECT; docs/reach.md lists the tables'),
    limit: z.number().int().min(1).max(MAX_SQL_ROWS).default(MAX_SQL_ROWS).describe('rows at most'),
  }),
  'POST /api/projects': z.object({ name: z.string().min(1).max(200), id: z.string().optional() }),
  'PATCH /api/projects/{project}': z.object({
    name: z.string().min(1).max(200).optional(),
    retentionDays: z.number().int().min(1).max(36_500).nullable().optional(),
    dailySpans: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).nullable().optional(),
    dailyBytes: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).nullable().optional(),
    priceOverrides: z.array(priceOverrideSchema).max(1_000).optional(),
  }),
  'PATCH /api/people/{id}': z.object({
    roles: z.record(z.string().min(1).max(63), z.enum(roles)).optional(),
    isDisabled: z.boolean().optional(),
  }),
  'POST /api/keys': z.object({
    name: z.string().min(1).max(200),
    scopes: z.array(z.enum(scopes)).min(1).default(['ingest', 'read']),
    format: z.enum(keyFormats).default('playhead').describe('uuid is for SDKs that accept nothing else'),
    expiresAt: z.iso
      .datetime({ offset: true })
      .refine((at) => Date.parse(at) > Date.now(), 'must be in the future')
      .transform((at) => new Date(at).toISOString())
      .nullable()
      .default(null)
      .describe('when the key stops working; null: never'),
  }),
} as const satisfies Record<string, z.ZodType>

/** The type of each route's body. */
export type ApiBodies = { [Route in keyof typeof bodySchemas]: z.input<(typeof bodySchemas)[Route]> }
