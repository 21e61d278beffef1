import { z } from '@hono/zod-openapi'
import { findingKinds, type FindingKind, type Findings } from '@playhead/model'
import type { OnTheWire, Same } from './on-the-wire.ts'

const kindNames = Object.keys(findingKinds) as [FindingKind, ...FindingKind[]]

const kindSchema = z
  .enum(kindNames)
  .describe(kindNames.map((kind) => `- \`${kind}\`: ${findingKinds[kind]}`).join('\n'))
  .openapi('FindingKind')

const findingSchema = z
  .object({
    kind: kindSchema,
    stepId: z.string().describe('the step that is blamed'),
    weight: z.number().describe('from 0 to 1: how much the finding counts'),
    sentence: z.string(),
    evidence: z.array(
      z.object({
        stepId: z.string(),
        path: z
          .string()
          .describe('the place in the step: `arguments.id`, `output`, `error`; empty for all of it'),
        text: z.string().describe('what stands there'),
      }),
    ),
  })
  .openapi('Finding')

const suspectSchema = z
  .object({
    stepId: z.string(),
    agent: z.string().nullable(),
    sentence: z.string(),
    findings: z
      .array(z.number())
      .describe('positions in `findings`, the one that the sentence is from first'),
  })
  .openapi('Suspect')

export const findingsSchema = z
  .object({
    findings: z.array(findingSchema).describe('what the rules found, the weightiest first'),
    suspects: z
      .array(suspectSchema)
      .describe(
        'the steps that probably made the session go wrong, the most likely first; at most three, none if all is well',
      ),
  })
  .openapi('Findings')

true satisfies Same<OnTheWire<typeof findingsSchema>, Findings>

/** The first suspect of a session, as lists show it. */
export const listedSuspectSchema = z.object({
  kind: kindSchema,
  stepId: z.string(),
  sentence: z.string(),
})

/** `reopened`: it was resolved or ignored, and came back. */
export const issueStates = ['open', 'reopened', 'resolved', 'ignored'] as const

export const issueSchema = z
  .object({
    id: z.string(),
    kind: kindSchema,
    title: z.string(),
    state: z.enum(issueStates),
    sessions: z.number(),
    users: z.number(),
    firstSeenAt: z.iso.datetime(),
    lastSeenAt: z.iso.datetime(),
    versions: z
      .array(z.string())
      .describe('`service.version`, or the commit, of its sessions, the oldest first'),
    exampleSessionId: z.string().describe('the latest session'),
    passingSessionId: z
      .string()
      .nullable()
      .describe('a session that passed: of the same test or with the same input, otherwise of the same name'),
    activity: z.array(z.number()).describe('sessions on each of the last 14 days, the oldest first'),
    resolvedVersion: z.string().optional().describe('the version that it is resolved in'),
    ignoredUntil: z.number().optional().describe('the number of sessions at which it opens again'),
    note: z.string().optional(),
  })
  .openapi('Issue')

export type Issue = OnTheWire<typeof issueSchema>

export const issueDetailSchema = issueSchema
  .extend({
    byVersion: z.array(
      z.object({
        version: z.string().describe('empty if unknown'),
        sessions: z.number(),
        firstSeenAt: z.iso.datetime(),
        lastSeenAt: z.iso.datetime(),
      }),
    ),
    suspects: z
      .array(z.object({ name: z.string(), kind: kindSchema, sessions: z.number(), asFirst: z.number() }))
      .describe('the steps that are suspected over all its sessions, the most frequent first'),
    example: z
      .object({ stepId: z.string(), sentence: z.string() })
      .describe('the first suspect of the example session'),
  })
  .openapi('IssueDetail')

export type IssueDetail = OnTheWire<typeof issueDetailSchema>

export const issueChangeSchema = z
  .object({
    state: z.enum(['open', 'resolved', 'ignored']).optional(),
    version: z
      .string()
      .max(200)
      .optional()
      .describe('with `resolved`: the version that has the fix; by default the newest one'),
    sessions: z
      .number()
      .int()
      .min(1)
      .max(1_000_000_000)
      .optional()
      .describe('with `ignored`: open it again after this many more sessions; by default never'),
    note: z.string().max(4_000).optional(),
  })
  .refine(({ state, note }) => state !== undefined || note !== undefined, 'must change the state or the note')
  .refine(
    ({ state, version }) => version === undefined || state === 'resolved',
    'a version goes with resolved',
  )
  .refine(({ state, sessions }) => sessions === undefined || state === 'ignored', 'sessions go with ignored')
