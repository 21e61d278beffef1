import type { IncomingMessage } from 'node:http'
import type { Context } from 'hono'
import type { Scope } from '../api/schemas/settings.ts'
import type { NewAuditEntry } from './audit.ts'
import { authorize, identify, requireLogin, type Caller, type Gate, type HeaderReader } from './caller.ts'
import { addressOf } from './client-address.ts'

/** The project of an API request, if its caller has the scope there. `named` is a project in the path. */
export function projectOf(context: Context, scope: Scope, gate: Gate, named?: string): string {
  const head = {
    header: (name: string) => context.req.header(name),
    query: (name: string) => context.req.query(name),
    address: callerAddress(context),
  }
  return projectOfHead(head, scope, gate, named)
}

/** The same, before the body of a request is read. */
export function projectOfHead(
  { header, query, address }: { header: HeaderReader; query: HeaderReader; address: string },
  scope: Scope,
  gate: Gate,
  named?: string,
): string {
  const requested = named ?? (query('project') || header('x-playhead-project'))
  return authorize(identify(header, gate, address), scope, requested || undefined, gate.registry)
}

/** Refuses keys: only a person who logged in may do this, or anyone while auth is off. */
export function requirePerson(context: Context, gate: Gate): Caller {
  return requireLogin((name) => context.req.header(name), gate)
}

export function callerOf(context: Context, gate: Gate): Caller {
  return identify((name) => context.req.header(name), gate, callerAddress(context))
}

export function callerAddress(context: Context): string {
  const { incoming } = (context.env ?? {}) as { incoming?: IncomingMessage }
  return incoming === undefined ? '' : addressOf(incoming)
}

/** Writes in the audit log what the caller of a request did. */
export function recordAudit(
  context: Context,
  gate: Gate,
  entry: Omit<NewAuditEntry, 'caller'>,
): Promise<void> {
  return gate.audit.record({
    ...entry,
    caller: describeCaller(callerOf(context, gate), callerAddress(context)),
  })
}

export function describeCaller(caller: Caller, address: string): NewAuditEntry['caller'] {
  switch (caller.kind) {
    case 'key':
      return { kind: 'key', id: caller.key.id, name: caller.key.name, address }
    case 'person':
      return { kind: 'person', id: caller.login.id, name: caller.login.device, address }
    case 'anyone':
      return { kind: 'anyone', id: '', name: '', address }
  }
}
