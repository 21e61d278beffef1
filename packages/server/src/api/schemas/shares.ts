import { z } from '@hono/zod-openapi'
import type { OnTheWire } from './on-the-wire.ts'

export const DAY_MS = 86_400_000
/** How long a link works unless its creator says otherwise, and at most. */
export const SHARE_LASTS_DAYS = 7
const MAX_SHARE_DAYS = 366

export const shareSchema = z
  .object({
    id: z.string().describe('in the address of the link; not a secret'),
    sessionId: z.string(),
    hasContent: z.boolean().describe('false: prompts, arguments, results and messages are left out'),
    createdBy: z.string(),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
    revokedAt: z.iso.datetime().nullable(),
    opens: z.number().describe('how often it was opened'),
    lastOpenedAt: z.iso.datetime().nullable(),
  })
  .openapi('Share')

/** A link that shows one session to people without a login. */
export type Share = OnTheWire<typeof shareSchema>

export const newShareSchema = z.object({
  expiresAt: z.iso
    .datetime({ offset: true })
    .refine((at) => Date.parse(at) > Date.now(), 'must be in the future')
    .refine(
      (at) => Date.parse(at) <= Date.now() + MAX_SHARE_DAYS * DAY_MS,
      `must be within ${MAX_SHARE_DAYS} days`,
    )
    .transform((at) => new Date(at).toISOString())
    .optional()
    .describe(`when the link stops working; default: in ${SHARE_LASTS_DAYS} days`),
  hasContent: z.boolean().default(true).describe('false: leave out prompts, arguments, results and messages'),
})

/** What the page of a link says about the link itself. */
export const openedShareSchema = shareSchema.pick({ expiresAt: true, hasContent: true })
