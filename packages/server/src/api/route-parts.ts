import { z } from '@hono/zod-openapi'
import { errorSchema } from './schemas.ts'

/** Which project a request is about; a key's own when it comes with a key. */
export const projectParameter = {
  project: z.string().max(63).optional().describe("project id; with a key it can only be the key's own"),
}

/**
 * The answers every route has: its own, and errors. The schema's type is dropped: answers are the model's types, and
 * tests hold what is really sent to these schemas.
 */
export function answers(description: string, schema: z.ZodType) {
  return {
    200: { description, content: { 'application/json': { schema } } },
    default: {
      description: 'What went wrong, and what to do',
      content: { 'application/json': { schema: errorSchema } },
    },
  } as const
}

/** A request body of JSON. */
export function jsonBody<Schema extends z.ZodType>(schema: Schema) {
  return { body: { required: true, content: { 'application/json': { schema } } } } as const
}
