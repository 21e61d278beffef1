import { randomUUID } from 'node:crypto'
import type { Share } from '../api/schemas/shares.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Store } from '../store/connect.ts'
import { SELECT_SHARES, shareFromRow, toShareRow, type StoredShare } from '../store/shares-table.ts'
import type { VersionClock } from '../store/version-clock.ts'
import type { RevokedKeys } from './revoked-keys.ts'
import { hashSecret, newSecret } from './secrets.ts'
import { ShareOpenCounts } from './share-opens.ts'

/** What the token of a link begins with, so that it is never taken for a key. */
export const SHARE_PREFIX = 'phs_'

export type ShareState = 'open' | 'expired' | 'revoked'

type SharesOptions = {
  store: Pick<Store, 'client' | 'badRows'>
  versions: VersionClock
  /** Keeps a link revoked although the row that revoked it was lost. */
  revoked: RevokedKeys
  node: string
}

/** The links that show one session without a login: kept in the store, cached in memory. */
export class Shares {
  readonly #options: SharesOptions
  readonly #opens: ShareOpenCounts
  #byHash = new Map<string, StoredShare>()
  #writes = 0

  private constructor(options: SharesOptions) {
    this.#options = options
    this.#opens = new ShareOpenCounts(options.store, options.node)
  }

  static async open(options: SharesOptions): Promise<Shares> {
    const shares = new Shares(options)
    await shares.reload()
    return shares
  }

  /** Picks up what other servers created, revoked and counted. */
  async reload(): Promise<void> {
    const writes = this.#writes
    const { client, badRows } = this.#options.store
    const [result] = await Promise.all([
      client.query({ query: SELECT_SHARES, format: 'JSONEachRow' }),
      this.#opens.reload(),
    ])
    const idOf = ({ id }: { id: string }) => id
    const shares = badRows.readEach('shares', await result.json<Parameters<typeof shareFromRow>[0]>(), {
      idOf,
      read: shareFromRow,
    })
    // Something was written during the read, which may have missed it.
    if (writes !== this.#writes) return this.reload()
    for (const share of shares) share.revokedAt ??= this.#options.revoked.revokedAt(share.hash) ?? null
    this.#byHash = new Map(shares.map((share) => [share.hash, share]))
  }

  /** The links of a project, or of one of its sessions, newest first. */
  list(project: string, sessionId?: string): Share[] {
    return [...this.#byHash.values()]
      .filter(
        (share) => share.project === project && (sessionId === undefined || share.sessionId === sessionId),
      )
      .map((share) => this.#present(share))
      .toReversed()
  }

  /** Creates a link. Only this result contains its token. */
  async create(
    given: Pick<StoredShare, 'project' | 'sessionId' | 'hasContent' | 'createdBy' | 'expiresAt'>,
  ): Promise<{ share: Share; token: string }> {
    const token = newSecret(SHARE_PREFIX)
    const share: StoredShare = {
      id: randomUUID(),
      ...given,
      hash: hashSecret(token),
      createdAt: new Date().toISOString(),
      revokedAt: null,
    }
    await this.#write(share)
    return { share: this.#present(share), token }
  }

  async revoke(project: string, id: string): Promise<Share> {
    const share = this.#find(id)
    if (share?.project !== project)
      throw new KnownError('NOT_FOUND', `Project "${project}" has no share link ${id.slice(0, 60)}.`)
    const revokedAt = share.revokedAt ?? new Date().toISOString()
    await this.#options.revoked.add(share.hash, revokedAt)
    const revoked = { ...share, revokedAt }
    await this.#write(revoked)
    return this.#present(revoked)
  }

  /** Whether a link works, by its id, which is no secret. Undefined if there is no such link. */
  stateOf(id: string): ShareState | undefined {
    const share = this.#find(id)
    return share === undefined ? undefined : stateOf(share)
  }

  /** The link that a token belongs to. Throws unless it works. */
  admit(token: string): StoredShare {
    const share = this.#byHash.get(hashSecret(token))
    if (share === undefined)
      throw new KnownError(
        'UNAUTHORIZED',
        'No link has this token: part of the address is missing or mistyped. Ask whoever sent it for the whole link.',
      )
    const state = stateOf(share)
    if (state === 'expired')
      throw new KnownError('SHARE_EXPIRED', 'This link has expired. Ask whoever sent it for a new one.')
    if (state === 'revoked')
      throw new KnownError('SHARE_REVOKED', 'This link was revoked. Ask whoever sent it for a new one.')
    return share
  }

  /** Counts that a link was used. */
  noteUse(id: string, visitor: string, isOpening: boolean): void {
    this.#opens.note(id, visitor, isOpening)
  }

  /** Saves how often links were opened. */
  save(): Promise<void> {
    return this.#opens.save()
  }

  #find(id: string): StoredShare | undefined {
    return [...this.#byHash.values()].find((share) => share.id === id)
  }

  #present({ hash: _, project: __, ...share }: StoredShare): Share {
    return { ...share, ...this.#opens.of(share.id) }
  }

  async #write(share: StoredShare): Promise<void> {
    const { store, versions } = this.#options
    await versions.observe('shares', 'id = {id:String}', { id: share.id })
    const row = toShareRow(share, versions.next())
    await store.client.insert({ table: 'shares', format: 'JSONEachRow', values: [row] })
    this.#writes += 1
    this.#byHash.set(share.hash, share)
  }
}

function stateOf({ revokedAt, expiresAt }: StoredShare): ShareState {
  if (revokedAt !== null) return 'revoked'
  return Date.parse(expiresAt) > Date.now() ? 'open' : 'expired'
}
