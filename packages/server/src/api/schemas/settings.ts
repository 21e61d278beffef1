import { z } from '@hono/zod-openapi'
import type { PriceOverride } from '@playhead/model'
import type { OnTheWire, Same } from './on-the-wire.ts'

export const roles = ['viewer', 'member', 'admin'] as const
export type Role = (typeof roles)[number]

export const scopes = ['ingest', 'read', 'admin'] as const
export type Scope = (typeof scopes)[number]

export const keyFormats = ['playhead', 'uuid'] as const
export type KeyFormat = (typeof keyFormats)[number]

export const priceOverrideSchema = z
  .object({
    model: z.string().min(1).describe('model name as reported; a trailing * matches any suffix'),
    provider: z.string().optional(),
    inputPerMillion: z.number().min(0).describe('US dollars per million tokens'),
    outputPerMillion: z.number().min(0),
    cacheReadPerMillion: z.number().min(0).optional(),
    cacheWritePerMillion: z.number().min(0).optional(),
    cacheWrite1hPerMillion: z.number().min(0).optional(),
    audioInputPerMillion: z.number().min(0).optional(),
    audioOutputPerMillion: z.number().min(0).optional(),
    imageInputPerMillion: z.number().min(0).optional(),
    reasoningPerMillion: z.number().min(0).optional(),
    perRequest: z.number().min(0).optional(),
    from: z.iso.date().optional().describe('first day this price applies; earlier calls keep their price'),
  })
  .openapi('PriceOverride')

true satisfies Same<OnTheWire<typeof priceOverrideSchema>, PriceOverride>

export const projectSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    createdAt: z.iso.datetime(),
    retentionDays: z
      .number()
      .int()
      .min(1)
      .nullable()
      .describe('sessions older than this are deleted; null keeps them forever'),
    dailySpans: z
      .number()
      .int()
      .min(0)
      .nullable()
      .describe('spans and log records that the project may send a day (UTC); null for any number'),
    dailyBytes: z
      .number()
      .int()
      .min(0)
      .nullable()
      .describe('bytes of requests, uncompressed, that it may send a day; null for any number'),
    priceOverrides: z.array(priceOverrideSchema),
    priceRevision: z
      .number()
      .int()
      .describe(
        'increases whenever prices change or costs are recomputed; the latest revision of a step wins',
      ),
  })
  .openapi('Project')

export type Project = OnTheWire<typeof projectSchema>

export const usageSchema = z
  .object({
    day: z.iso.date().describe('UTC'),
    spans: z.number().describe('spans and log records that were received'),
    bytes: z.number().describe('bytes of requests, uncompressed'),
    dailySpans: projectSchema.shape.dailySpans,
    dailyBytes: projectSchema.shape.dailyBytes,
  })
  .openapi('Usage')

export const keySchema = z
  .object({
    id: z.string(),
    project: z.string(),
    name: z.string(),
    hint: z.string().describe('the first characters of the secret'),
    scopes: z.array(z.enum(scopes)),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().nullable().describe('null: never'),
    revokedAt: z.iso.datetime().nullable(),
    lastUsedAt: z.iso.datetime().nullable().describe('to the minute; null: never used'),
  })
  .openapi('Key')

/** A key without its secret, which is shown once and never stored. */
export type Key = OnTheWire<typeof keySchema>

export const loginSchema = z
  .object({
    id: z.string(),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
    lastUsedAt: z.iso.datetime().nullable().describe('to the minute'),
    address: z.string().describe('the network address that logged in'),
    device: z.string().describe('the browser or program that logged in'),
    isCurrent: z.boolean().describe('whether the request was made with this login'),
  })
  .openapi('Login')

/** A person's login in one browser or program. */
export type Login = OnTheWire<typeof loginSchema>

const rolesSchema = z
  .record(z.string().min(1).max(63), z.enum(roles))
  .describe('a role for each project; "*" is for all of them')

export const personSchema = z
  .object({
    id: z.string(),
    issuer: z.string(),
    subject: z.string().describe('who they are at the issuer'),
    email: z.string(),
    name: z.string(),
    roles: rolesSchema,
    isDisabled: z.boolean(),
    createdAt: z.iso.datetime(),
    lastLoginAt: z.iso.datetime(),
  })
  .openapi('Person')

export type Person = OnTheWire<typeof personSchema>

export const callerSchema = z.object({
  kind: z.enum(['anyone', 'person', 'key', 'nobody']),
  isAuthOn: z.boolean(),
  project: z.string().optional(),
  scopes: z.array(z.enum(scopes)).optional().describe('what a key may do'),
  person: z
    .object({ id: z.string(), name: z.string(), email: z.string(), roles: rolesSchema })
    .optional()
    .describe('who logged in with OpenID Connect'),
  hasOidc: z.boolean().describe('whether people can log in with OpenID Connect, at /api/login/oidc'),
  version: z.string().optional().describe("the server's version, for callers that it knows"),
})

export const diskSchema = z.object({
  freeBytes: z.number().nullable().describe('on the disk of the data directory'),
  tables: z.array(z.object({ name: z.string(), rows: z.number(), bytes: z.number() })),
})

export const damagedFileSchema = z
  .object({
    name: z.string().describe('in the folder "damaged" of the data directory'),
    problem: z.string(),
    foundAt: z.iso.datetime(),
    blocks: z.number().nullable().describe('blocks that could not be read; null if unknown'),
    rows: z.number().nullable().describe('rows that could not be read; null if unknown'),
  })
  .openapi('DamagedFile')

export type DamagedFile = OnTheWire<typeof damagedFileSchema>

const serverNodeSchema = z
  .object({
    id: z.string(),
    url: z.string(),
    startedAt: z.iso.datetime(),
    seenAt: z.iso.datetime(),
    isThisOne: z.boolean(),
  })
  .openapi('ServerNode')

export const healthSchema = z.object({
  version: z.string(),
  uptimeMs: z.number(),
  spansStored: z.number(),
  spansRejected: z.number(),
  logsStored: z.number(),
  pendingRows: z.number(),
  rowsWithoutWords: z
    .number()
    .describe('stored rows whose words are still to be collected: searches read the rows themselves'),
  engineRestarts: z.number(),
  liveViewers: z.number(),
  servers: z
    .array(serverNodeSchema)
    .describe(
      'the servers that share the store, the one that runs retention first; empty with an embedded store',
    ),
  damagedFiles: z.array(damagedFileSchema).describe('files of the log and the store that were damaged'),
  badRows: z
    .object({
      count: z.number(),
      rows: z.array(z.object({ table: z.string(), id: z.string(), problem: z.string() })),
    })
    .describe('rows of the store that could not be read, and were left out, since the start'),
  disk: diskSchema,
})
