import { z } from '@hono/zod-openapi'
import {
  endStates,
  lanes,
  scoreSources,
  stepKinds,
  type AttributeValue,
  type Score,
  type SessionSummary,
  type Step,
  type StepSkeleton,
  type Usage,
} from '@playhead/model'
import type { OnTheWire, Same } from './on-the-wire.ts'

export const usageSchema = z
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
      'Tokens. input includes cache, output includes reasoning. A field that nobody reported is absent, never 0.',
  })

export const forkEditSchema = z
  .object({
    result: z.unknown().optional().describe('what the step returns'),
    args: z.unknown().optional().describe('what the action is called with'),
    system: z.string().optional(),
    prompt: z.string().optional(),
    model: z.string().optional(),
  })
  .openapi('ForkEdit', { description: 'What a fork changes at its step.' })

export const scoreSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    value: z.union([z.number(), z.boolean(), z.string()]),
    source: z.enum(scoreSources),
    comment: z.string().optional(),
    stepId: z.string().optional().describe('the step it is about; absent for the whole session'),
    at: z.iso.datetime(),
  })
  .openapi('Score')

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
    cost: z.number().nullable().describe('US dollars; null if no call could be priced'),
    unpricedModels: z.array(z.string()).describe('models without a known price; cost does not include them'),
    modelsWithoutUsage: z
      .array(z.string())
      .optional()
      .describe('models of calls that reported no usage; usage and cost do not include them'),
    modelsWithoutOutput: z
      .array(z.string())
      .optional()
      .describe('models of calls that reported no output tokens; usage and cost include only their input'),
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
    version: z.string().optional().describe('the version of the program: `service.version`'),
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
    parentId: z.string().optional().describe('the session that this one ran again'),
    parentStepId: z.string().optional().describe('the step of that session that a fork begins at'),
    lane: z.enum(lanes).optional(),
    edit: forkEditSchema.optional().describe('what a fork changed at that step; absent if nothing'),
    scores: z
      .array(scoreSchema)
      .optional()
      .describe(
        'the scores that count, one of each name: of the session before those of its steps, the newest of several',
      ),
    url: z.string().optional().describe('opens the replay'),
    demo: z.boolean(),
  })
  .openapi('SessionSummary')

const attributeValueSchema: z.ZodType<AttributeValue> = z
  .lazy(() =>
    z.union([
      z.string(),
      z.number(),
      z.boolean(),
      z.null(),
      z.array(attributeValueSchema),
      z.record(z.string(), attributeValueSchema),
    ]),
  )
  .openapi('AttributeValue')

const attributesSchema = z.record(z.string(), attributeValueSchema)

const stepErrorSchema = z
  .object({
    type: z.string(),
    message: z.string(),
    stack: z.string().optional(),
    get cause() {
      return stepErrorSchema.optional()
    },
    isPropagated: z.boolean().optional().describe('a step below threw it, and this step passed it on'),
    isHandled: z.boolean().optional().describe('a later attempt succeeded, or the parent step continued'),
  })
  .openapi('StepError')

const partSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('refusal'), text: z.string() }),
  z.object({
    type: z.literal('reasoning'),
    text: z.string().optional(),
    signature: z.string().optional(),
    isRedacted: z.boolean().optional(),
  }),
  z.object({
    type: z.literal('tool-call'),
    id: z.string().optional(),
    name: z.string(),
    arguments: z.unknown(),
    isServerSide: z.boolean().optional(),
  }),
  z.object({
    type: z.literal('tool-result'),
    id: z.string().optional(),
    name: z.string().optional(),
    result: z.unknown(),
    isError: z.boolean().optional(),
    isServerSide: z.boolean().optional(),
  }),
  z.object({
    type: z.literal('media'),
    modality: z.string(),
    mimeType: z.string().optional(),
    uri: z.string().optional(),
    base64: z.string().optional(),
    fileId: z.string().optional(),
  }),
  z.object({ type: z.literal('other'), raw: z.unknown() }),
])

const messageSchema = z
  .object({
    role: z.string().describe('system, user, assistant, tool, or what the provider calls it'),
    name: z.string().optional(),
    parts: z.array(partSchema),
    finishReason: z.string().optional(),
    isOutput: z.boolean().optional().describe('true for what the model returned'),
  })
  .openapi('Message')

const toolDefinitionSchema = z.object({
  name: z.string(),
  description: z.string().optional(),
  parameters: z.unknown().optional(),
  type: z.string().optional(),
})

const toolSchema = z.object({
  name: z.string(),
  callId: z.string().optional(),
  type: z.string().optional(),
  description: z.string().optional(),
  arguments: z.unknown().optional(),
  result: z.unknown().optional(),
})

const retrievedDocumentSchema = z.object({
  id: z.string().optional(),
  score: z.number().optional(),
  content: z.string().optional(),
  metadata: z.unknown().optional(),
})

const logEntrySchema = z
  .object({
    at: z.string(),
    offsetMs: z.number(),
    severity: z.string(),
    name: z.string(),
    body: z.unknown(),
    attributes: attributesSchema.optional(),
  })
  .openapi('LogEntry')

const stepChangeSchema = z
  .object({
    at: z.iso.datetime().describe('when it arrived'),
    isRewrite: z
      .boolean()
      .optional()
      .describe('true if the sender was allowed to replace the step; otherwise the step stayed as it was'),
    fields: z.array(z.object({ field: z.string(), was: z.string(), sent: z.string() })),
  })
  .openapi('StepChange')

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
      .describe(
        'false if input, output, messages and attributes were left out; request the step to get them',
      ),
    input: z.unknown().optional(),
    output: z.unknown().optional(),
    messages: z.array(messageSchema).optional(),
    toolDefinitions: z.array(toolDefinitionSchema).optional(),
    model: z.string().optional(),
    requestedModel: z.string().optional(),
    provider: z.string().optional(),
    parameters: z.record(z.string(), z.unknown()).optional(),
    usage: usageSchema.optional(),
    usageScope: z.enum(['call', 'rollup', 'duplicate']).optional(),
    cost: z.number().nullable(),
    costSource: z.enum(['reported', 'computed']).optional(),
    tool: toolSchema.optional(),
    agent: z.string().optional(),
    effect: z.enum(['read', 'write']).optional(),
    source: z
      .enum(['tape', 'stub', 'live'])
      .optional()
      .describe('what answered a step of a re-run; absent outside re-runs'),
    handoff: z.object({ from: z.string().optional(), to: z.string().optional() }).optional(),
    guardrail: z.object({ name: z.string().optional(), isTriggered: z.boolean().optional() }).optional(),
    retrieval: z
      .object({ query: z.string().optional(), documents: z.array(retrievedDocumentSchema).optional() })
      .optional(),
    streaming: z
      .object({
        firstTokenMs: z.number().optional(),
        chunks: z
          .array(z.tuple([z.number(), z.string()]))
          .optional()
          .describe('[milliseconds since the step began, text]'),
        isAborted: z.boolean().optional().describe('The stream ended before the model had finished.'),
      })
      .optional(),
    responseId: z.string().optional(),
    finishReasons: z.array(z.string()).optional(),
    attempt: z.number().optional(),
    logs: z.array(logEntrySchema).optional(),
    dialect: z.string(),
    attributes: attributesSchema.optional(),
    isOrphan: z.boolean().optional(),
    isTruncated: z.boolean().optional(),
    isInferred: z
      .boolean()
      .optional()
      .describe('Nobody reported the step: the conversation shows that it took place.'),
    changes: z
      .array(stepChangeSchema)
      .optional()
      .describe('What was sent after the step had ended and differs from what was there, oldest first.'),
  })
  .openapi('Step')

/** What of a step may stand in `commons` and `others`. */
const someOfStepSchema = stepSchema.partial()

export const skeletonSchema = z
  .object({
    ids: z.array(z.string()),
    parents: z
      .array(z.number())
      .describe('positions of the parents in `ids`; -1 without one, and for a parent that is not there'),
    commons: z
      .array(
        someOfStepSchema.required({ kind: true, name: true, status: true, dialect: true, hasPayload: true }),
      )
      .describe('what many steps have in common'),
    commonOf: z.array(z.number()).describe('which of `commons` each step has'),
    startsMs: z.array(z.number()).describe('when each started, since `startedAt`'),
    endsMs: z.array(z.number().nullable()).describe('when each ended, since it started; null while it runs'),
    offsetsMs: z.array(z.number()).describe('`offsetMs` of each step'),
    durationsMs: z.array(z.number().nullable()).describe('`durationMs` of each step'),
    startedAt: z.iso.datetime().describe('when the first step started'),
    others: z
      .array(z.tuple([z.number(), someOfStepSchema]))
      .describe('[position, what else the step has]; `cost` is null where it is absent'),
  })
  .openapi('StepSkeleton', {
    description: 'All steps of a long session in columns, without previews and payloads.',
  })

true satisfies Same<OnTheWire<typeof scoreSchema>, Score>
true satisfies Same<OnTheWire<typeof skeletonSchema>, StepSkeleton>
true satisfies Same<OnTheWire<typeof usageSchema>, Usage>
true satisfies Same<OnTheWire<typeof sessionSummarySchema>, SessionSummary>
true satisfies Same<OnTheWire<typeof stepSchema>, Step>
