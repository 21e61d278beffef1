import { createHash } from 'node:crypto'
import { roles as knownRoles, type Person, type Role } from '../api/schemas/settings.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Store } from '../store/connect.ts'
import { isoTime } from '../store/iso-time.ts'
import { parseObject } from '../store/stored-fields.ts'
import type { VersionClock } from '../store/version-clock.ts'
import { EVERYWHERE, type Roles } from './roles.ts'

/** What the provider says about a person. */
export type Identity = {
  issuer: string
  subject: string
  email: string
  isEmailVerified: boolean
  name: string
}

/** Who gets which role at the first login. */
export type FirstRoles = {
  /** Verified e-mail addresses, or subjects, of people who are admins of everything. */
  admins: readonly string[]
  /** The role of everybody else in all projects; undefined for none. */
  everybody: Role | undefined
}

type PersonRow = Omit<Person, 'roles' | 'isDisabled'> & { roles: string; isDisabled: number }

/** The people who logged in with OpenID Connect, and their roles: kept in the store, cached in memory. */
export class People {
  readonly #store: Pick<Store, 'client' | 'badRows'>
  readonly #versions: VersionClock
  readonly #firstRoles: FirstRoles
  #people = new Map<string, Person>()
  #writes = 0

  private constructor(
    store: Pick<Store, 'client' | 'badRows'>,
    versions: VersionClock,
    firstRoles: FirstRoles,
  ) {
    this.#store = store
    this.#versions = versions
    this.#firstRoles = firstRoles
  }

  static async open(
    store: Pick<Store, 'client' | 'badRows'>,
    versions: VersionClock,
    firstRoles: FirstRoles,
  ): Promise<People> {
    const people = new People(store, versions, firstRoles)
    await people.reload()
    return people
  }

  /** Picks up changes by other servers. */
  async reload(): Promise<void> {
    const writes = this.#writes
    const result = await this.#store.client.query({
      query: `SELECT id, issuer, subject, email, name, roles, is_disabled AS isDisabled, ${isoTime('created_at')} AS createdAt,
        ${isoTime('last_login_at')} AS lastLoginAt FROM people FINAL ORDER BY created_at`,
      format: 'JSONEachRow',
    })
    const rows = this.#store.badRows.readEach('people', await result.json<PersonRow>(), {
      idOf: ({ id }) => id,
      read: readPerson,
    })
    // Something was written during the read, which may have missed it.
    if (writes !== this.#writes) return this.reload()
    this.#people = new Map(rows.map((person) => [person.id, person]))
  }

  list(): Person[] {
    return [...this.#people.values()]
  }

  /** A person who may log in; undefined for nobody, and for one who was disabled. */
  find(id: string): Person | undefined {
    const person = this.#people.get(id)
    return person?.isDisabled === false ? person : undefined
  }

  /** Notes that the provider vouched for a person. Throws if an admin has disabled them. */
  async welcome(identity: Identity): Promise<Person> {
    const { issuer, subject, email, name } = identity
    const id = personId(issuer, subject)
    const known = this.#people.get(id)
    if (known?.isDisabled === true)
      throw new KnownError('FORBIDDEN', 'An admin has disabled your access to this server.')
    const now = new Date().toISOString()
    const person: Person = {
      id,
      issuer,
      subject,
      email,
      name,
      isDisabled: false,
      createdAt: known?.createdAt ?? now,
      lastLoginAt: now,
      roles: this.#rolesAtLogin(identity, known),
    }
    await this.#write(person)
    return person
  }

  async update(id: string, change: { roles?: Roles; isDisabled?: boolean }): Promise<Person> {
    const person = this.#people.get(id)
    if (person === undefined)
      throw new KnownError(
        'NOT_FOUND',
        'There is no such person. Everybody is listed after their first login.',
      )
    const changed = { ...person, ...change, roles: { ...(change.roles ?? person.roles) } }
    await this.#write(changed)
    return changed
  }

  /** Those who are named in the configuration stay admins, so that nobody can lock out everybody. */
  #rolesAtLogin({ email, subject, isEmailVerified }: Identity, known: Person | undefined): Person['roles'] {
    const { admins, everybody } = this.#firstRoles
    const isNamed = admins.some(
      (admin) => admin === subject || (isEmailVerified && admin.toLowerCase() === email.toLowerCase()),
    )
    if (isNamed) return { ...known?.roles, [EVERYWHERE]: 'admin' }
    if (known !== undefined) return known.roles
    return everybody === undefined ? {} : { [EVERYWHERE]: everybody }
  }

  async #write(person: Person): Promise<void> {
    await this.#versions.observe('people', 'id = {id:String}', { id: person.id })
    await this.#store.client.insert({
      table: 'people',
      format: 'JSONEachRow',
      values: [
        {
          id: person.id,
          issuer: person.issuer,
          subject: person.subject,
          email: person.email,
          name: person.name,
          roles: JSON.stringify(person.roles),
          is_disabled: Number(person.isDisabled),
          created_at: person.createdAt,
          last_login_at: person.lastLoginAt,
          version: this.#versions.next(),
        },
      ],
    })
    this.#writes += 1
    this.#people.set(person.id, person)
  }
}

export function personId(issuer: string, subject: string): string {
  return createHash('sha256').update(`${issuer}\0${subject}`).digest('hex').slice(0, 32)
}

/** A role that is not one of ours counts as none. */
function readPerson({ roles, isDisabled, ...row }: PersonRow): Person {
  const valid = Object.entries(parseObject(roles)).filter((entry): entry is [string, Role] =>
    (knownRoles as readonly unknown[]).includes(entry[1]),
  )
  return { ...row, isDisabled: isDisabled === 1, roles: Object.fromEntries(valid) }
}
