import { z } from '@hono/zod-openapi'
import type { Evidence, TapeGap } from '@playhead/model'
import type { OnTheWire, Same } from './on-the-wire.ts'
import { forkEditSchema } from './session.ts'

export const tapeGapSchema = z
  .object({
    code: z.enum([
      'content-off',
      'no-output',
      'answer-cut',
      'redacted-result',
      'embeddings',
      'result-not-data',
      'tool-not-wrapped',
    ]),
    stepId: z.string(),
    sentence: z.string(),
  })
  .openapi('TapeGap')

const triesSchema = z.object({ passed: z.number(), total: z.number().describe('passed or failed') })

export const evidenceSchema = triesSchema
  .extend({
    stepId: z.string(),
    edit: forkEditSchema,
    control: triesSchema.describe('the forks of the same step without an edit'),
    p: z
      .number()
      .nullable()
      .describe("the chance that the edit passes this much more often by luck (Fisher's exact test)"),
  })
  .openapi('Evidence')

true satisfies Same<OnTheWire<typeof evidenceSchema>, Evidence>
true satisfies Same<OnTheWire<typeof tapeGapSchema>['code'], TapeGap['reason']>
