import { randomBytes } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import type { Login } from '../api/schemas/settings.ts'
import { KnownError } from '../errors/known-error.ts'
import { isoTime } from '../store/iso-time.ts'
import type { LastUses } from './last-uses.ts'
import { LoginCookies } from './secrets.ts'

export const LOGIN_LASTS_MS = 30 * 86_400_000
/** Far more than people have browsers; beyond it the oldest login ends. */
const MAX_LOGINS = 1_000

type StoredLogin = Omit<Login, 'isCurrent' | 'lastUsedAt'> & {
  /** Empty for a login with the password. */
  personId: string
}

/** The logins of people: kept in the store, so that they survive a restart and can be ended from elsewhere. */
export class Logins {
  readonly #client: ClickHouseClient
  readonly #uses: LastUses
  readonly cookies: LoginCookies
  #active = new Map<string, StoredLogin>()
  #writes = 0

  private constructor(client: ClickHouseClient, uses: LastUses, password: string) {
    this.#client = client
    this.#uses = uses
    this.cookies = new LoginCookies(password)
  }

  static async open(client: ClickHouseClient, uses: LastUses, password: string): Promise<Logins> {
    const logins = new Logins(client, uses, password)
    await logins.reload()
    return logins
  }

  /** Picks up logins that other nodes started or ended. */
  async reload(): Promise<void> {
    const writes = this.#writes
    const result = await this.#client.query({
      query: `SELECT id, ${isoTime('created_at')} AS createdAt, ${isoTime('expires_at')} AS expiresAt, address, device, person_id AS personId, proof
        FROM logins FINAL WHERE NOT is_ended AND expires_at > now64(3) ORDER BY created_at`,
      format: 'JSONEachRow',
    })
    const stored = await result.json<StoredLogin & { proof: string }>()
    // Something was written during the read, which may have missed it.
    if (writes !== this.#writes) return this.reload()
    this.#active = new Map(
      stored
        // Logins with an earlier password have ended.
        .filter(({ id, proof }) => proof === this.cookies.sign('record', id))
        .map(({ proof: _, ...login }) => [login.id, login]),
    )
  }

  async start(given: {
    address: string
    device: string
    personId?: string | undefined
    lastsMs?: number | undefined
  }): Promise<{
    login: StoredLogin
    cookie: string
  }> {
    const nowMs = Date.now()
    const [oldest] = this.#active.size >= MAX_LOGINS ? this.#active.values() : []
    if (oldest !== undefined) await this.#write(oldest, true)
    const login: StoredLogin = {
      id: randomBytes(16).toString('hex'),
      createdAt: new Date(nowMs).toISOString(),
      expiresAt: new Date(nowMs + (given.lastsMs ?? LOGIN_LASTS_MS)).toISOString(),
      address: given.address,
      device: given.device,
      personId: given.personId ?? '',
    }
    await this.#write(login, false)
    return { login, cookie: this.cookies.issue(login.id) }
  }

  /** The login of a cookie, unless it has ended or expired. */
  find(cookie: string): StoredLogin | undefined {
    const id = this.cookies.read(cookie)
    const login = id === undefined ? undefined : this.#active.get(id)
    if (login === undefined || !(Date.parse(login.expiresAt) > Date.now())) return undefined
    this.#uses.note(login.id)
    return login
  }

  list(currentId: string | undefined): Login[] {
    return [...this.#active.values()]
      .filter(({ expiresAt }) => Date.parse(expiresAt) > Date.now())
      .map(({ personId: _, ...login }) => ({
        ...login,
        lastUsedAt: this.#uses.of(login.id),
        isCurrent: login.id === currentId,
      }))
  }

  async end(id: string): Promise<StoredLogin> {
    const login = this.#active.get(id)
    if (login === undefined)
      throw new KnownError('NOT_FOUND', 'There is no such login, or it has ended already.')
    await this.#write(login, true)
    return login
  }

  async endOthers(currentId: string | undefined): Promise<StoredLogin[]> {
    const others = [...this.#active.values()].filter(({ id }) => id !== currentId)
    for (const login of others) await this.#write(login, true)
    return others
  }

  async #write(login: StoredLogin, isEnded: boolean): Promise<void> {
    const { id, createdAt, expiresAt, address, device, personId } = login
    const proof = this.cookies.sign('record', id)
    await this.#client.insert({
      table: 'logins',
      format: 'JSONEachRow',
      values: [
        {
          id,
          created_at: createdAt,
          expires_at: expiresAt,
          address,
          device,
          person_id: personId,
          proof,
          is_ended: Number(isEnded),
        },
      ],
    })
    this.#writes += 1
    if (isEnded) this.#active.delete(id)
    else this.#active.set(id, login)
  }
}

/** What a person used to log in, from the `User-Agent` header. */
export function describeDevice(userAgent: string | undefined): string {
  const agent = userAgent ?? ''
  const cli = /^playhead\/(\S+)/.exec(agent)
  if (cli !== null) return 'Playhead CLI'
  const browser = browsers.find(([sign]) => sign.test(agent))?.[1]
  const system = systems.find(([sign]) => sign.test(agent))?.[1]
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`
  return agent.replaceAll(/[^\x20-\x7E]/g, '').slice(0, 60) || 'Unknown program'
}

const browsers: [RegExp, string][] = [
  [/\bEdg\w*\//, 'Edge'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bHeadlessChrome\/|\bChrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]

const systems: [RegExp, string][] = [
  [/\biPhone\b|\biPad\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]
