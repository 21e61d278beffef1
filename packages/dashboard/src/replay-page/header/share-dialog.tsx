import { useState } from 'react'
import { countOf, visibleText } from '@playhead/model'
import { useCreateShare, useRevokeShare, useShares, type Share } from '../../api/shares.ts'
import { useNow } from '../../ui/browser/use-now.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Dialog } from '../../ui/controls/dialog.tsx'
import { SelectField } from '../../ui/controls/fields.tsx'
import { Age, formatExactTime } from '../../ui/data/age.tsx'
import { CodeBlock } from '../../ui/data/code-block.tsx'
import { ErrorNotice } from '../../ui/data/error-notice.tsx'
import './share-dialog.css'

const DAY_MS = 86_400_000
const lifetimes = [
  { value: '1', label: 'in a day' },
  { value: '7', label: 'in 7 days' },
  { value: '30', label: 'in 30 days' },
  { value: '90', label: 'in 90 days' },
]

/** Makes a link to the session, and lists those that there are. */
export function ShareDialog({ sessionId, onClose }: { sessionId: string; onClose: () => void }) {
  return (
    <Dialog
      title="Share this session"
      description="Whoever has the link can replay this session without a login, and see nothing else. You can revoke it."
      isWide
      isOpen
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      <div className="share-dialog">
        <NewShare sessionId={sessionId} />
        <ShareList sessionId={sessionId} />
      </div>
    </Dialog>
  )
}

function NewShare({ sessionId }: { sessionId: string }) {
  const [days, setDays] = useState('7')
  const [hasContent, setHasContent] = useState(true)
  const creation = useCreateShare(sessionId)
  return (
    <form
      className="share-form"
      onSubmit={(event) => {
        event.preventDefault()
        const expiresAt = new Date(Date.now() + Number(days) * DAY_MS).toISOString()
        creation.mutate({ expiresAt, hasContent })
      }}
    >
      <SelectField label="Expires" value={days} onChange={setDays} options={lifetimes} />
      <label className="share-content">
        <input type="checkbox" checked={!hasContent} onChange={() => setHasContent(!hasContent)} />
        <span>
          Leave out content{' '}
          <span className="dim">prompts, arguments, results and messages; names, times and costs stay</span>
        </span>
      </label>
      <Button type="submit" look="accent" disabled={creation.isPending}>
        Create link
      </Button>
      {creation.error !== null && <ErrorNotice error={creation.error} />}
      {creation.data !== undefined && (
        <div className="share-link" role="status">
          <p>Copy it now: it is not stored and can't be shown again.</p>
          <CodeBlock label="link" text={creation.data.url} />
        </div>
      )}
    </form>
  )
}

function ShareList({ sessionId }: { sessionId: string }) {
  const { data: shares, error } = useShares(sessionId)
  const revocation = useRevokeShare(sessionId)
  if (error !== null) return <ErrorNotice error={error} />
  if (shares === undefined || shares.length === 0) return null
  return (
    <section aria-label="Links to this session">
      <h3>{countOf(shares.length, 'link')} to this session</h3>
      {revocation.error !== null && <ErrorNotice error={revocation.error} />}
      <ul className="share-list">
        {shares.map((share) => (
          <ShareRow
            key={share.id}
            share={share}
            isBusy={revocation.isPending}
            onRevoke={() => revocation.mutate(share.id)}
          />
        ))}
      </ul>
    </section>
  )
}

type ShareRowProps = { share: Share; isBusy: boolean; onRevoke: () => void }

function ShareRow({ share, isBusy, onRevoke }: ShareRowProps) {
  const now = useNow()
  const isExpired = Date.parse(share.expiresAt) <= now
  const isOver = share.revokedAt !== null || isExpired
  return (
    <li className={isOver ? 'is-over' : ''}>
      <span className="share-facts">
        <span className="mono" title={`Link ${share.id}`}>
          …/{share.id.slice(0, 8)}
        </span>
        <span>{share.hasContent ? 'with content' : 'without content'}</span>
        <span title={formatExactTime(share.expiresAt)}>
          {share.revokedAt !== null
            ? 'revoked'
            : `${isExpired ? 'expired' : 'until'} ${share.expiresAt.slice(0, 10)}`}
        </span>
        <span className="dim">
          made <Age time={share.createdAt} />
          {share.createdBy !== '' && ` by ${visibleText(share.createdBy)}`}
        </span>
        <b>
          {share.lastOpenedAt === null ? (
            'never opened'
          ) : (
            <>
              opened {share.opens === 1 ? 'once' : `${share.opens} times`}, <Age time={share.lastOpenedAt} />
            </>
          )}
        </b>
      </span>
      {!isOver && (
        <Button
          disabled={isBusy}
          aria-label={`Revoke the link ${share.id.slice(0, 8)}`}
          title="It stops working immediately"
          onClick={onRevoke}
        >
          Revoke
        </Button>
      )}
    </li>
  )
}
