import { z } from '@hono/zod-openapi'
import { MAX_SCORE_COMMENT, MAX_SCORE_NAME, MAX_SCORE_WORD, scoreSources } from '@playhead/model'

/** A score that a client sends. */
export const newScoreSchema = z
  .object({
    id: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('sent again with the same id, it is stored once, as it was sent first'),
    name: z
      .string()
      .trim()
      .min(1)
      .max(MAX_SCORE_NAME)
      .regex(/^[^<>=:!]*$/, 'must not contain < > = : !'),
    value: z
      .union([z.number(), z.boolean(), z.string().trim().min(1).max(MAX_SCORE_WORD)])
      .describe('a number, yes or no, or a word'),
    source: z.enum(scoreSources).default('code'),
    comment: z.string().max(MAX_SCORE_COMMENT).optional(),
    stepId: z
      .string()
      .regex(/^[0-9a-f]{16}(?:[0-9a-f]{8})?$/, 'must be 16 hex digits')
      .optional()
      .describe('the step it is about; without it, the session'),
  })
  .openapi('NewScore')
