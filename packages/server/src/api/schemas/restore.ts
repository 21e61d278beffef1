import { z } from '@hono/zod-openapi'
import type { OnTheWire } from './on-the-wire.ts'

export const restorePlanSchema = z
  .object({
    backupCreatedAt: z.string(),
    projects: z.object({
      total: z.number(),
      added: z.array(z.string()).describe('ids of projects that do not exist yet'),
      replaced: z.array(z.string()).describe('ids of projects whose settings are older here'),
    }),
    sessions: z.object({ total: z.number(), added: z.number() }),
    steps: z.object({
      total: z.number(),
      added: z.number(),
      replaced: z.number().describe('steps that are here and look different afterwards'),
    }),
    logs: z.number(),
    objects: z.number().describe('uploaded objects'),
    monitors: z.number(),
    destinations: z.number().describe('of alerts; without their secrets, unless the backup has them'),
    keys: z.object({
      total: z.number(),
      isIncluded: z.boolean().describe('whether they are restored; if so, their secrets work on this server'),
      list: z.array(
        z.object({
          name: z.string(),
          project: z.string(),
          scopes: z.array(z.string()),
          isRevoked: z.boolean(),
          isPresent: z.boolean().describe('this server has the key already'),
        }),
      ),
    }),
  })
  .openapi('RestorePlan')

/** What a restore adds and replaces. */
export type RestorePlan = OnTheWire<typeof restorePlanSchema>

export const lastRestoreSchema = z.object({
  last: z
    .object({ restoredAt: z.iso.datetime(), plan: restorePlanSchema })
    .nullable()
    .describe('the restore that can be undone; null if there is none'),
})
