import type { Role, Scope } from '../api/schemas/settings.ts'
import { KnownError } from '../errors/known-error.ts'

/** What a request needs: a scope, or `edit`, which is for what members of a team do (tags, verdicts, issues, re-runs). */
export type Permission = Scope | 'edit'

/** The role for all projects. */
export const EVERYWHERE = '*'

const allowed: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ['read'],
  member: ['read', 'edit', 'ingest'],
  admin: ['read', 'edit', 'ingest', 'admin'],
}

export type Roles = Readonly<Record<string, Role>>

/** The role in a project: the higher one of its own and the one for all projects. */
export function roleIn(roles: Roles, project: string): Role | undefined {
  const held = [own(roles, project), own(roles, EVERYWHERE)]
  return (['admin', 'member', 'viewer'] as const).find((role) => held.includes(role))
}

export function isServerAdmin(roles: Roles): boolean {
  return own(roles, EVERYWHERE) === 'admin'
}

/** Throws if the roles of a person do not allow something in a project. */
export function checkRole(roles: Roles, permission: Permission, project: string): void {
  const role = roleIn(roles, project)
  // Whether there is such a project is none of the business of who has no role in it.
  if (role === undefined)
    throw new KnownError(
      'NOT_FOUND',
      `There is no project "${project.slice(0, 63)}", or you have no role in it. Ask an admin for one.`,
    )
  if (allowed[role].includes(permission)) return
  const needed = permission === 'admin' ? 'an admin' : 'a member'
  throw new KnownError(
    'FORBIDDEN',
    `You are a ${role} of project "${project}"; this needs ${needed}. Ask an admin for the role.`,
  )
}

/** A scope of a key that includes the permission. */
export function scopeFor(permission: Permission): Scope {
  return permission === 'edit' ? 'admin' : permission
}

function own(roles: Roles, project: string): Role | undefined {
  return Object.hasOwn(roles, project) ? roles[project] : undefined
}
