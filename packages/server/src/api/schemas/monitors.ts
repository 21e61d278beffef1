import { z } from '@hono/zod-openapi'
import {
  findingKinds,
  measures,
  monitorStates,
  type Condition,
  type FindingKind,
  type Monitor,
  type Rule,
} from '@playhead/model'
import type { OnTheWire, Same } from './on-the-wire.ts'

const kindNames = Object.keys(findingKinds) as [FindingKind, ...FindingKind[]]
const action = z.string().trim().min(1).max(200)
const windowMs = z
  .number()
  .int()
  .min(60_000)
  .max(30 * 86_400_000)
  .describe('the length of the window in milliseconds: from a minute to 30 days')

const ruleSchema = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('never'), action, before: action.optional() }),
    z.object({ kind: z.literal('always'), action }),
    z.object({
      kind: z.literal('at-most'),
      times: z.number().int().min(1).max(10_000),
      action: action.optional().describe('any action by default'),
    }),
    z.object({ kind: z.literal('only'), actions: z.array(action).min(1).max(200) }),
    z.object({ kind: z.literal('cost'), atMost: z.number().min(0).describe('US dollars') }),
    z.object({ kind: z.literal('duration'), atMostMs: z.number().min(1) }),
    z.object({ kind: z.literal('no-errors') }),
    z.object({ kind: z.literal('no-finding'), findings: z.array(z.enum(kindNames)).min(1) }),
    z.object({ kind: z.literal('score'), name: action, atLeast: z.number() }),
  ])
  .openapi('Rule', { description: 'What every session must satisfy: a matcher of the testing kit as data.' })

const conditionSchema = z
  .discriminatedUnion('kind', [
    z.object({
      kind: z.literal('rule'),
      rule: ruleSchema,
      windowMs,
      sessions: z
        .number()
        .int()
        .min(1)
        .max(1_000_000)
        .describe('it is bad while so many sessions of the window break the rule'),
    }),
    z.object({
      kind: z.literal('rate'),
      measure: z.enum(measures),
      score: action.optional().describe('with the measure `score`: which one'),
      is: z.enum(['above', 'below']),
      limit: z.number().describe('a share, US dollars, milliseconds or a number'),
      isChange: z
        .literal(true)
        .optional()
        .describe('the limit is a change against the same window a week before: 0.5 is half as much again'),
      windowMs,
      minimum: z.number().int().min(0).max(1_000_000).describe('with fewer sessions there is no data'),
    }),
    z.object({ kind: z.literal('silence'), windowMs }),
    z.object({ kind: z.literal('issue'), windowMs }),
  ])
  .openapi('MonitorCondition')

const definition = {
  name: z.string().trim().min(1).max(200),
  filter: z
    .record(z.string(), z.union([z.string(), z.array(z.string())]))
    .describe('which sessions: parameters of GET /api/sessions, such as { "tag": "support" }'),
  condition: conditionSchema,
  forMs: z
    .number()
    .int()
    .min(0)
    .max(86_400_000)
    .describe('how long it has to be bad before it fires, and good before it is normal again'),
  isPaused: z.boolean(),
  destinations: z
    .array(z.string().min(1).max(63))
    .max(100)
    .optional()
    .describe('the ids of the destinations that are told; all of them by default, nobody if it is empty'),
  isFromFile: z.boolean().describe('created by `playhead monitors apply`'),
}

export const monitorSchema = z.object({ id: z.string(), ...definition }).openapi('Monitor')

/** The score goes with its measure, and with no other. */
const hasScore = (condition: z.infer<typeof conditionSchema>) =>
  condition.kind !== 'rate' || (condition.measure === 'score') === (condition.score !== undefined)
const SCORE_PROBLEM = 'condition.score names the score of the measure `score`'

export const newMonitorSchema = z
  .object({
    ...definition,
    id: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and dashes')
      .optional()
      .describe('made from the name by default; an existing monitor with this id is replaced'),
    filter: definition.filter.default({}),
    forMs: definition.forMs.default(0),
    isPaused: definition.isPaused.default(false),
    isFromFile: definition.isFromFile.default(false),
  })
  .refine(({ condition }) => hasScore(condition), SCORE_PROBLEM)

export const monitorChangeSchema = z
  .object({
    name: definition.name.optional(),
    filter: definition.filter.optional(),
    condition: definition.condition.optional(),
    forMs: definition.forMs.optional(),
    isPaused: definition.isPaused.optional(),
    destinations: definition.destinations.nullable().describe('null: all of them'),
    isFromFile: definition.isFromFile.optional(),
  })
  .refine(({ condition }) => condition === undefined || hasScore(condition), SCORE_PROBLEM)

const exampleSchema = z.object({
  sessionId: z.string(),
  stepId: z.string().optional().describe('the step that shows it, or the first suspect'),
  message: z.string(),
  url: z.string().describe('opens the replay at the step'),
})

export const watchedMonitorSchema = z
  .object({
    monitor: monitorSchema,
    sentence: z.string().describe('what it watches, in words'),
    state: z.enum(monitorStates),
    since: z.iso.datetime(),
    firedAt: z.iso.datetime().nullable(),
    value: z.number().nullable().describe('the figure of the last evaluation'),
    evaluatedAt: z.iso.datetime().nullable(),
    problem: z.string().optional().describe('why the last evaluation failed'),
    examples: z.array(exampleSchema).describe('up to three sessions that show why it is bad'),
  })
  .openapi('WatchedMonitor')

export const monitorPreviewSchema = z
  .object({
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    slotMs: z.number().describe('the time between two points'),
    points: z
      .array(z.object({ at: z.iso.datetime(), value: z.number().nullable(), isBad: z.boolean() }))
      .describe('at most 720, oldest first'),
    fired: z
      .array(z.object({ from: z.iso.datetime(), to: z.iso.datetime().nullable() }))
      .describe('when it would have fired, oldest first; null: it would fire now'),
    isEstimate: z
      .boolean()
      .describe(
        'true if lists of sessions do not tell exactly: arguments and handled errors are not in them',
      ),
  })
  .openapi('MonitorPreview')

export type MonitorPreview = OnTheWire<typeof monitorPreviewSchema>
export type WatchedMonitorResponse = OnTheWire<typeof watchedMonitorSchema>

true satisfies Same<OnTheWire<typeof ruleSchema>, Rule>
true satisfies Same<OnTheWire<typeof conditionSchema>, Condition>
true satisfies Same<OnTheWire<typeof monitorSchema>, Monitor>
