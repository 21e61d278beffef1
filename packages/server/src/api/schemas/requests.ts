import { z } from '@hono/zod-openapi'
import { keyFormats, priceOverrideSchema, scopes } from './settings.ts'

const MAX_DELETED_SESSIONS = 1_000
const MAX_TAG_LENGTH = 200
const MAX_EDITED_TAGS = 100
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
  'POST /api/projects': z.object({ name: z.string().min(1).max(200), id: z.string().optional() }),
  'PATCH /api/projects/{project}': z.object({
    name: z.string().min(1).max(200).optional(),
    retentionDays: z.number().int().min(1).max(36_500).nullable().optional(),
    priceOverrides: z.array(priceOverrideSchema).max(1_000).optional(),
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
