import { endStates, stepKinds, type SessionSummary, type Step, type Usage } from '@playhead/model'
import { z } from '@hono/zod-openapi'
import { scopes } from '../access/registry.ts'
import { statsIntervals } from '../query/stats-interval.ts'

/** What the API answers with. Types are held to those of the model; the OpenAPI document is made from these. */

const usageSchema = z
  .object({
    input: z.number().optional(),
    output: z.number().optional(),
    cacheRead: z.number().optional(),
    cacheWrite: z.number().optional(),
    cacheWrite5m: z.number().optional(),
    cacheWrite1h: z.number().optional(),
    reasoning: z.number().optional(),
    audioInput: z.number().optional(),
    audioOutput: z.number().optional(),
    imageInput: z.number().optional(),
    total: z.number().optional(),
  })
  .openapi('Usage', {
    description:
      'Tokens. input includes cache, output includes reasoning; a field nobody reported is absent, never 0.',
  })

export const sessionSummarySchema = z
  .object({
    id: z.string().describe('32 hex digits'),
    name: z.string(),
    inputPreview: z.string().optional(),
    endState: z.enum(endStates),
    endStateReason: z.string().optional(),
    startedAt: z.iso.datetime(),
    endedAt: z.iso.datetime().nullable(),
    durationMs: z.number().nullable(),
    tags: z.array(z.string()),
    usage: usageSchema,
    cost: z.number().nullable().describe('US dollars; null when nothing could be priced'),
    unpricedModels: z.array(z.string()).describe('models whose price is unknown: cost lacks them'),
    stepCount: z.number(),
    llmCallCount: z.number(),
    actionCount: z.number(),
    errorCount: z.number(),
    models: z.array(z.string()),
    agents: z.array(z.string()),
    tools: z.array(z.string()),
    userId: z.string().optional(),
    threadId: z.string().optional(),
    environment: z.string().optional(),
    test: z
      .object({
        file: z.string().optional(),
        suite: z.string().optional(),
        name: z.string().optional(),
        attempt: z.number().optional(),
        variant: z.string().optional(),
        runId: z.string().optional(),
      })
      .optional(),
    vcs: z.object({ branch: z.string().optional(), commit: z.string().optional() }).optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
    url: z.string().optional().describe('opens the replay'),
    demo: z.boolean(),
  })
  .openapi('SessionSummary')

const stepErrorSchema = z
  .object({
    type: z.string(),
    message: z.string(),
    stack: z.string().optional(),
    get cause() {
      return stepErrorSchema.optional()
    },
    isPropagated: z.boolean().optional(),
    isHandled: z.boolean().optional(),
  })
  .openapi('StepError')

export const stepSchema = z
  .object({
    id: z.string(),
    parentId: z.string().nullable(),
    kind: z.enum(stepKinds),
    name: z.string(),
    startedAt: z.iso.datetime(),
    endedAt: z.iso.datetime().nullable(),
    offsetMs: z.number().describe('since the session began'),
    durationMs: z.number().nullable(),
    status: z.enum(['ok', 'error', 'soft-error', 'running']),
    error: stepErrorSchema.optional(),
    inputPreview: z.string().optional(),
    outputPreview: z.string().optional(),
    hasPayload: z
      .boolean()
      .describe('false: input, output, messages and attributes were left out; ask for the step'),
    input: z.unknown().optional(),
    output: z.unknown().optional(),
    messages: z.array(z.looseObject({ role: z.string() })).optional(),
    toolDefinitions: z.array(z.looseObject({ name: z.string() })).optional(),
    model: z.string().optional(),
    requestedModel: z.string().optional(),
    provider: z.string().optional(),
    parameters: z.record(z.string(), z.unknown()).optional(),
    usage: usageSchema.optional(),
    usageScope: z.enum(['call', 'rollup', 'duplicate']).optional(),
    cost: z.number().nullable(),
    costSource: z.enum(['reported', 'computed']).optional(),
    tool: z.looseObject({ name: z.string() }).optional(),
    agent: z.string().optional(),
    effect: z.enum(['read', 'write']).optional(),
    handoff: z.looseObject({}).optional(),
    guardrail: z.looseObject({}).optional(),
    retrieval: z.looseObject({}).optional(),
    streaming: z.looseObject({ firstTokenMs: z.number().optional() }).optional(),
    responseId: z.string().optional(),
    finishReasons: z.array(z.string()).optional(),
    attempt: z.number().optional(),
    logs: z.array(z.looseObject({ at: z.string() })).optional(),
    dialect: z.string(),
    attributes: z.record(z.string(), z.unknown()).optional(),
    isOrphan: z.boolean().optional(),
    isTruncated: z.boolean().optional(),
  })
  .openapi('Step')

/** The compiler's word that nothing is missing: each of the model's fields has its line above, and no other. */
type Same<Left, Right> = [keyof Left] extends [keyof Right]
  ? [keyof Right] extends [keyof Left]
    ? true
    : never
  : never
true satisfies Same<z.infer<typeof usageSchema>, Usage>
true satisfies Same<z.infer<typeof sessionSummarySchema>, SessionSummary>
true satisfies Same<z.infer<typeof stepSchema>, Step>

const figures = {
  total: z.number(),
  success: z.number(),
  fail: z.number(),
  indeterminate: z.number(),
  running: z.number(),
  lost: z.number(),
  failureRate: z.number().nullable().describe('fail / (success + fail); null when nothing ended'),
  cost: z.number().nullable(),
  usage: usageSchema,
  durationMs: z.object({
    p50: z.number().nullable(),
    p95: z.number().nullable(),
    p99: z.number().nullable(),
  }),
}

export const statsSchema = z
  .object({
    ...figures,
    unpricedModels: z.array(z.string()).describe('models whose price is unknown: cost lacks their calls'),
    interval: z.enum(statsIntervals).optional().describe('how long each bucket is'),
    buckets: z.array(z.object({ at: z.iso.datetime(), ...figures })),
    groups: z.array(
      z.object({
        key: z.string(),
        ...figures,
        calls: z.number().optional(),
        failedCalls: z.number().optional(),
        example: z
          .object({
            sessionId: z.string().describe('the last session with this error'),
            message: z.string(),
            action: z.string().optional().describe('the action that failed, where it is known'),
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
    passRate: z.number().nullable().describe('passed / (passed + failed); null when nothing ended'),
    passInterval: z
      .object({ low: z.number(), high: z.number() })
      .describe('where the true pass rate lies with 95 % confidence (Wilson)'),
    isFlaky: z.boolean().describe('passed and failed at one commit, among its last runs'),
    variants: z.number().describe('how many inputs it was tried with; 0 when it has none'),
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
      .describe('the last sessions, newest first'),
  })
  .openapi('Test')

export const priceOverrideSchema = z
  .object({
    model: z.string().min(1).describe('the model as reported; a * at the end matches any ending'),
    provider: z.string().optional(),
    inputPerMillion: z.number().min(0).describe('US dollars for a million tokens'),
    outputPerMillion: z.number().min(0),
    cacheReadPerMillion: z.number().min(0).optional(),
    cacheWritePerMillion: z.number().min(0).optional(),
    cacheWrite1hPerMillion: z.number().min(0).optional(),
    audioInputPerMillion: z.number().min(0).optional(),
    audioOutputPerMillion: z.number().min(0).optional(),
    imageInputPerMillion: z.number().min(0).optional(),
    reasoningPerMillion: z.number().min(0).optional(),
    perRequest: z.number().min(0).optional(),
    from: z.iso.date().optional().describe('calls before this day keep the price they had'),
  })
  .openapi('PriceOverride')

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
      .describe('sessions older than this are deleted; null keeps them'),
    priceOverrides: z.array(priceOverrideSchema),
    priceRevision: z.number().int(),
  })
  .openapi('Project')

export const keySchema = z
  .object({
    id: z.string(),
    project: z.string(),
    name: z.string(),
    hint: z.string().describe('the first characters of the secret'),
    scopes: z.array(z.enum(scopes)),
    createdAt: z.iso.datetime(),
    revokedAt: z.iso.datetime().nullable(),
  })
  .openapi('Key')

export const errorSchema = z
  .object({
    error: z.object({ code: z.string(), message: z.string().describe('what happened and what to do') }),
  })
  .openapi('Error')
