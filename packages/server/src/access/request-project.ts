import type { IncomingMessage } from 'node:http'
import type { Context } from 'hono'
import type { NewAuditEntry } from './audit.ts'
import { authorize, identify, requireLogin, type Caller, type Gate, type HeaderReader } from './caller.ts'
import type { Permission } from './roles.ts'
import { addressOf } from './client-address.ts'

/** The project of an API request, if its caller has the scope there. `named` is a project in the path. */
export function projectOf(context: Context, scope: Permission, gate: Gate, named?: string): string {
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
  scope: Permission,
  gate: Gate,
  named?: string,
): string {
  const requested = named ?? (query('project') || header('x-playhead-project'))
  return authorize(identify(header, gate, address), scope, requested || undefined, gate.registry)
}

/** Whether the caller of a request that lasts still has the scope: keys are revoked and logins end. */
export function mayStill(context: Context, scope: Permission, gate: Gate): () => boolean {
  return () => {
    try {
      projectOf(context, scope, gate)
      return true
    } catch {
      return false
    }
  }
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
      return {
        kind: 'person',
        id: caller.person?.id ?? caller.login.id,
        name: caller.person === undefined ? caller.login.device : personName(caller.person),
        address,
      }
    case 'anyone':
      return { kind: 'anyone', id: '', name: '', address }
  }
}

function personName({ name, email }: { name: string; email: string }): string {
  return email === '' || email === name ? name : `${name} (${email})`
}
