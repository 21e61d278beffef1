import { z } from '@hono/zod-openapi'
import { endStates, lanes } from '@playhead/model'
import type { OnTheWire } from './on-the-wire.ts'
import { forkEditSchema } from './session.ts'

const MAX_TIMES = 20
const MAX_SENTENCE_LENGTH = 10_000

export const jobIdSchema = z.string().regex(/^[\w-]{8,64}$/, 'must be 8 to 64 letters, digits, - or _')

/** What `playhead dev` says about itself when it connects. */
export const runnerSchema = z
  .object({
    id: z.string(),
    host: z.string(),
    pid: z.number(),
    version: z.string(),
    agents: z.array(z.string()),
    connectedAt: z.iso.datetime(),
  })
  .openapi('Runner', { description: 'A terminal with `playhead dev`.' })

export type RunnerAbout = OnTheWire<typeof runnerSchema>

/** One run, as `playhead rerun --json` prints it. */
const rerunLineSchema = z
  .object({
    parent: z.string(),
    session: z.string().nullable(),
    lane: z.enum(lanes),
    verdict: z.enum(['same', 'diverged', 'missed']),
    endState: z.enum(endStates).nullable(),
    parentEndState: z.enum(endStates),
    calls: z.object({ taped: z.number(), live: z.number(), stubbed: z.number() }),
    divergence: z.object({ step: z.number().nullable(), sentence: z.string() }).nullable(),
    misses: z.array(
      z.object({
        step: z.number().nullish(),
        message: z.number().nullish(),
        field: z.string().nullish(),
        sentence: z.string(),
      }),
    ),
    reason: z.string().optional(),
    notes: z.array(z.string()).optional(),
    costUsd: z.number(),
  })
  .openapi('RerunLine')

export const jobRequestSchema = z.object({
  jobId: jobIdSchema.describe('chosen by the page; a job that is sent twice runs once'),
  sessionId: z.string().regex(/^[0-9a-f]{32}$/, 'must be 32 hex digits'),
  stepId: z.string().min(1).max(100).describe('the step to run from'),
  edit: forkEditSchema.optional().describe('what to change at that step; absent: nothing'),
  times: z
    .number()
    .int()
    .min(1)
    .max(MAX_TIMES)
    .default(1)
    .describe('how often; more than once also runs as many without the edit, to compare with'),
})

export type JobRequest = z.output<typeof jobRequestSchema>

export const jobStates = ['queued', 'accepted', 'refused', 'started', 'finished'] as const

export const jobSchema = z
  .object({
    jobId: jobIdSchema,
    sessionId: z.string(),
    stepId: z.string(),
    state: z.enum(jobStates),
    sessionIds: z.array(z.string()).describe('the sessions that it started so far'),
    sentence: z.string().optional().describe('why it was refused, or what ended it'),
    lines: z.array(rerunLineSchema).describe('the runs that have ended'),
  })
  .openapi('Job')

export type Job = OnTheWire<typeof jobSchema>

/** What a runner reports about a job. `started` is sent for every session that begins and every run that ends. */
export const jobEventSchema = z.object({
  state: z.enum(['accepted', 'refused', 'started', 'finished']),
  sessionId: z.string().max(32).optional(),
  line: rerunLineSchema.optional(),
  sentence: z
    .string()
    .transform((text) => text.slice(0, MAX_SENTENCE_LENGTH))
    .optional(),
})

export type JobEvent = z.output<typeof jobEventSchema>
