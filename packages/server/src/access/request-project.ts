import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { authorize, identify, requireLogin, type Caller } from './caller.ts'
import type { Scope } from '../api/schemas/settings.ts'
import type { Services } from '../process/services.ts'

export type App = OpenAPIHono

/** The project that a request is about, if its caller may do this there. `named` is a project in the path. */
export function projectOf(context: Context, scope: Scope, services: Services, named?: string): string {
  const requested = named ?? (context.req.query('project') || context.req.header('x-playhead-project'))
  return authorize(callerOf(context, services), scope, requested || undefined, services.registry)
}

/** Refuses everyone but a person (or anyone, while auth is off). */
export function requirePerson(context: Context, services: Services): void {
  requireLogin((name) => context.req.header(name), services)
}

export function callerOf(context: Context, services: Services): Caller {
  return identify((name) => context.req.header(name), services)
}
