import type { Context } from 'hono'
import type { Scope } from '../api/schemas/settings.ts'
import { authorize, identify, requireLogin, type Caller, type Gate } from './caller.ts'

/** The project of an API request, if its caller has the scope there. `named` is a project in the path. */
export function projectOf(context: Context, scope: Scope, gate: Gate, named?: string): string {
  const requested = named ?? (context.req.query('project') || context.req.header('x-playhead-project'))
  return authorize(callerOf(context, gate), scope, requested || undefined, gate.registry)
}

/** Refuses keys: only a person who logged in may do this, or anyone while auth is off. */
export function requirePerson(context: Context, gate: Gate): void {
  requireLogin((name) => context.req.header(name), gate)
}

export function callerOf(context: Context, gate: Gate): Caller {
  return identify((name) => context.req.header(name), gate)
}
