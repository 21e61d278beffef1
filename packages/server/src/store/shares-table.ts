import { isoTime } from './iso-time.ts'

/** A link to one session, as `shares` stores it. */
export type StoredShare = {
  id: string
  project: string
  sessionId: string
  /** Of the token. The token itself is nowhere. */
  hash: string
  hasContent: boolean
  createdBy: string
  createdAt: string
  expiresAt: string
  revokedAt: string | null
}

/** How often a link was opened, as one server counted it. */
export type ShareOpens = { opens: number; openedAt: string }

type ShareRow = Omit<StoredShare, 'hasContent'> & { hasContent: number }

export const SELECT_SHARES = `SELECT id, project, session_id AS sessionId, hash, has_content AS hasContent, created_by AS createdBy,
  ${isoTime('created_at')} AS createdAt, ${isoTime('expires_at')} AS expiresAt, ${isoTime('revoked_at')} AS revokedAt
  FROM shares FINAL ORDER BY created_at`

/** What other servers, and earlier runs of this one, counted. */
export const SELECT_OPENS = `SELECT share_id AS id, toUInt32(sum(opens)) AS opens, ${isoTime('max(opened_at)')} AS openedAt
  FROM share_opens FINAL WHERE node != {node:String} GROUP BY share_id`

/** Throws if the row can't be one that we wrote: a link that is not certain opens nothing. */
export function shareFromRow({ hasContent, ...row }: ShareRow): StoredShare {
  if (!/^[0-9a-f]{64}$/.test(row.hash)) throw new Error('its hash is not a SHA-256.')
  if (Number.isNaN(Date.parse(row.expiresAt))) throw new Error('it has no end.')
  return { ...row, hasContent: hasContent === 1 }
}

export function toShareRow(share: StoredShare, version: number): Record<string, unknown> {
  return {
    id: share.id,
    project: share.project,
    session_id: share.sessionId,
    hash: share.hash,
    has_content: Number(share.hasContent),
    created_by: share.createdBy,
    created_at: share.createdAt,
    expires_at: share.expiresAt,
    revoked_at: share.revokedAt,
    version,
  }
}

export function toOpensRow(
  id: string,
  node: string,
  { opens, openedAt }: ShareOpens,
): Record<string, unknown> {
  return { share_id: id, node, opens, opened_at: openedAt }
}
