import { z } from '@hono/zod-openapi'
import type { OnTheWire } from './on-the-wire.ts'

/** What the audit log knows. The part before the dot is a group, which filters accept too. */
export const auditActions = [
  'login.started',
  'login.failed',
  'login.ended',
  'login.recovery-link',
  'key.created',
  'key.revoked',
  'key.refused',
  'project.created',
  'project.changed',
  'sessions.deleted',
  'sessions.tagged',
  'sessions.repriced',
  'sessions.rederived',
  'backup.downloaded',
  'backup.restored',
  'backup.undone',
] as const

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
    subject: z.string().describe('what it was done to: a key, a login, a project, sessions'),
    detail: z.string(),
  })
  .openapi('AuditEntry')

export type AuditEntry = OnTheWire<typeof auditEntrySchema>
