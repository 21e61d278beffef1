import type { Context } from 'hono'
import { setCookie } from 'hono/cookie'
import type { Site } from '../access/addresses.ts'
import { LOGIN_COOKIE, type Gate } from '../access/caller.ts'
import { describeDevice } from '../access/logins.ts'
import { callerAddress, describeCaller } from '../access/request-project.ts'
import type { AuditAction } from './schemas/audit.ts'
import type { Person } from './schemas/settings.ts'

export type LoginServices = { gate: Gate; site: Site; dataDirectory: string }

/** Starts a login, sets its cookie and writes it in the audit log. */
export async function startLogin(
  context: Context,
  { gate, site }: LoginServices,
  { action, lastsMs, person }: { action: AuditAction; lastsMs: number; person?: Person },
): Promise<void> {
  const [address, device] = [callerAddress(context), describeDevice(context.req.header('user-agent'))]
  const { login, cookie } = await gate.logins!.start({ address, device, lastsMs, personId: person?.id })
  const caller = describeCaller({ kind: 'person', login, ...(person !== undefined && { person }) }, address)
  await gate.audit.record({ action, project: null, caller })
  setCookie(context, LOGIN_COOKIE, cookie, {
    httpOnly: true,
    sameSite: 'Strict',
    secure: isSecure(site),
    path: '/',
    maxAge: lastsMs / 1_000,
  })
}

export function isSecure({ isTlsOn, publicUrl }: Site): boolean {
  return isTlsOn || publicUrl?.startsWith('https:') === true
}
