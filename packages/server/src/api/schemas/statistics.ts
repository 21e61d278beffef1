import { z } from '@hono/zod-openapi'
import {
  endStates,
  stepKinds,
  type DecisionGraph,
  type Stats,
  type StatsInterval,
  type TestHistory,
} from '@playhead/model'
import type { OnTheWire, Same } from './on-the-wire.ts'
import { usageSchema } from './session.ts'

/** Bucket lengths of a timeline, shortest first. */
export const statsIntervals = [
  'minute',
  '5-minutes',
  '15-minutes',
  'hour',
  '6-hours',
  'day',
  'week',
  'month',
] as const satisfies readonly StatsInterval[]

const scoreSchema = z
  .object({
    count: z.number().describe('sessions with this score'),
    mean: z.number().nullable().describe('mean of its numbers, where yes is 1; null without numbers'),
    words: z.record(z.string(), z.number()).describe('sessions by the word they got'),
  })
  .openapi('StatsScore')

const figures = {
  total: z.number(),
  success: z.number(),
  fail: z.number(),
  indeterminate: z.number(),
  running: z.number(),
  lost: z.number(),
  failureRate: z.number().nullable().describe('fail / (success + fail); null if no session ended either way'),
  cost: z.number().nullable(),
  usage: usageSchema,
  durationMs: z.object({
    p50: z.number().nullable(),
    p95: z.number().nullable(),
    p99: z.number().nullable(),
  }),
  score: scoreSchema.optional().describe('with `scoreName`'),
}

const confidenceSchema = z
  .object({ low: z.number(), high: z.number() })
  .describe('95% confidence interval of the rate (Wilson)')

export const statsSchema = z
  .object({
    ...figures,
    unpricedModels: z.array(z.string()).describe('models without a known price; cost does not include them'),
    interval: z.enum(statsIntervals).optional().describe('length of a bucket'),
    buckets: z.array(z.object({ at: z.iso.datetime(), ...figures })),
    groups: z.array(
      z.object({
        key: z.string(),
        ...figures,
        calls: z.number().optional(),
        failedCalls: z.number().optional(),
        example: z
          .object({
            sessionId: z.string().describe('the latest session with this error'),
            message: z.string(),
            action: z.string().optional().describe('the action that failed, if known'),
          })
          .optional(),
      }),
    ),
  })
  .openapi('Stats')

export const testSchema = z
  .object({
    file: z.string().optional(),
    suite: z.string().optional(),
    name: z.string(),
    total: z.number(),
    passed: z.number(),
    failed: z.number(),
    passRate: z.number().nullable().describe('passed / (passed + failed); null if no run ended either way'),
    passInterval: confidenceSchema,
    isFlaky: z.boolean().describe('passed and failed at the same commit within its recent runs'),
    variants: z.number().describe('number of distinct inputs it ran with; 0 if it has no variants'),
    cost: z.number().nullable(),
    durationMs: z.object({ p50: z.number().nullable(), p95: z.number().nullable() }),
    lastRunAt: z.iso.datetime(),
    runs: z
      .array(
        z.object({
          sessionId: z.string(),
          endState: z.enum(endStates),
          startedAt: z.iso.datetime(),
          durationMs: z.number().nullable(),
          cost: z.number().nullable(),
          attempt: z.number().optional(),
          variant: z.string().optional(),
          runId: z.string().optional(),
          branch: z.string().optional(),
          commit: z.string().optional(),
        }),
      )
      .describe('recent sessions, newest first'),
  })
  .openapi('Test')

const failureSchema = z
  .object({
    failed: z.number(),
    ended: z.number().describe('sessions that ended in success or fail'),
    rate: z.number().nullable(),
    interval: confidenceSchema,
  })
  .openapi('Failure')

export const graphSchema = z
  .object({
    sessions: z.number(),
    failure: failureSchema,
    isPartial: z.boolean().describe('true if more sessions matched than the graph covers'),
    nodes: z.array(
      z.object({
        id: z.string(),
        kind: z.enum([...stepKinds, 'start', 'end']),
        name: z.string(),
        state: z.enum(endStates).optional(),
        sessions: z.number(),
        times: z.number(),
        errors: z.number(),
        isWrite: z.boolean(),
        p90Ms: z.number().nullable(),
        cost: z.number().nullable().describe('average cost of a session through this node, in US dollars'),
        failure: failureSchema,
      }),
    ),
    edges: z.array(
      z.object({
        from: z.string(),
        to: z.string(),
        sessions: z.number(),
        cost: z.number().nullable(),
        failure: failureSchema,
      }),
    ),
    variants: z.array(
      z.object({
        id: z.string(),
        path: z.array(z.string()),
        sessions: z.number(),
        failure: failureSchema,
        cost: z.number().nullable(),
        examples: z.object({ passed: z.array(z.string()), failed: z.array(z.string()), last: z.string() }),
      }),
    ),
    variantCount: z.number(),
  })
  .openapi('DecisionGraph')

true satisfies Same<OnTheWire<typeof statsSchema>, Stats>
true satisfies Same<OnTheWire<typeof testSchema>, TestHistory>
true satisfies Same<OnTheWire<typeof graphSchema>, DecisionGraph>
