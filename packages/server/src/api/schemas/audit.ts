import { z } from '@hono/zod-openapi'
import type { OnTheWire } from './on-the-wire.ts'

/** What the audit log knows. The part before the dot is a group, which filters accept too. */
export const auditActions = [
  'login.started',
  'login.failed',
  'login.ended',
  'login.recovery-link',
  'login.oidc',
  'key.created',
  'key.revoked',
  'key.refused',
  'person.changed',
  'project.created',
  'project.changed',
  'terminal.paired',
  'sessions.deleted',
  'sessions.exported',
  'sessions.tagged',
  'sessions.repriced',
  'sessions.rederived',
  'share.created',
  'share.listed',
  'share.revoked',
  'issue.changed',
  'monitor.created',
  'monitor.changed',
  'monitor.deleted',
  'destination.created',
  'destination.changed',
  'destination.deleted',
  'destination.tested',
  'backup.downloaded',
  'backup.restored',
  'backup.undone',
] as const

export type AuditAction = (typeof auditActions)[number]

export const auditEntrySchema = z
  .object({
    id: z.string(),
    at: z.iso.datetime(),
    action: z.enum(auditActions),
    project: z.string().nullable().describe('null if it concerns the whole server'),
    caller: z.object({
      kind: z.enum(['anyone', 'person', 'key', 'server']),
      id: z.string().describe('of the key or the login'),
      name: z.string().describe("the key's name, or the browser or program of a person"),
      address: z.string().describe('network address'),
    }),
    subject: z
      .string()
      .describe('what it was done to: a key, a login, a project, a terminal, sessions, a share link'),
    detail: z.string(),
  })
  .openapi('AuditEntry')

export type AuditEntry = OnTheWire<typeof auditEntrySchema>
