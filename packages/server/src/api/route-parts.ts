import { z } from '@hono/zod-openapi'
import { LONG_SESSION_STEPS, longForms } from '../sessions/long-session.ts'
import { bodySchemas } from './schemas/requests.ts'
import { errorSchema, responseSchemas } from './schemas/responses.ts'

/** The project that a request is about; a key implies its own. */
export const projectParameter = {
  project: z.string().max(63).optional().describe("project id; with a key it can only be the key's own"),
}

/** Which parts of a session to return. */
export const sessionParameters = {
  payloads: z.enum(['first-screen', 'all', 'none']).default('first-screen'),
  long: z
    .enum(longForms)
    .default('whole')
    .describe(
      `with the payloads of the first screen: how a session of more than ${LONG_SESSION_STEPS.toLocaleString('en-US')} steps comes: \`skeleton\` has the steps without payloads in columns, without previews`,
    ),
}

/** A request line has room for so many. */
const MOST_STEP_IDS = 200

/** Which steps to return. */
export const someStepsParameters = {
  ids: z
    .string()
    .max(MOST_STEP_IDS * 100)
    .transform((text) => text.split(','))
    .pipe(z.array(z.string()).max(MOST_STEP_IDS))
    .describe(`ids of at most ${MOST_STEP_IDS} steps, separated by commas; unknown ones are left out`),
}

type JsonResponse<Schema> = {
  readonly description: string
  readonly content: { readonly 'application/json': { readonly schema: Schema } }
}

export const errorResponse: JsonResponse<typeof errorSchema> = {
  description: 'What went wrong and how to fix it',
  content: { 'application/json': { schema: errorSchema } },
}

type MethodOf<Route> = Route extends `${infer Method} ${string}` ? Lowercase<Method> : never
type PathOf<Route> = Route extends `${string} ${infer Path}` ? Path : never

/** The method, path and responses of a route that responds with JSON. */
export function jsonRoute<Route extends keyof typeof responseSchemas, Status extends 200 | 201 | 202 = 200>(
  route: Route,
  description: string,
  status: Status = 200 as Status,
): {
  method: MethodOf<Route>
  path: PathOf<Route>
  responses: { [Key in Status]: JsonResponse<(typeof responseSchemas)[Route]> } & {
    default: typeof errorResponse
  }
} {
  const [method = '', path] = route.split(' ')
  const schema = responseSchemas[route]
  return {
    method: method.toLowerCase() as MethodOf<Route>,
    path: path as PathOf<Route>,
    responses: {
      [status]: { description, content: { 'application/json': { schema } } },
      default: errorResponse,
    } as never,
  }
}

/** The JSON body that a route accepts. */
export function acceptsBody<Route extends keyof typeof bodySchemas>(route: Route) {
  const schema = bodySchemas[route]
  return { body: { required: true, content: { 'application/json': { schema } } } } as const
}
