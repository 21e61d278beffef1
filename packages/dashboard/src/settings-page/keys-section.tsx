import { visibleText } from '@playhead/model'
import { useState } from 'react'
import { keyScopes, useCreateKey, useKeys, useRevokeKey, type Key, type KeyScope } from '../api/access.ts'
import { useProjectId } from '../api/projects.ts'
import { Age, formatExactTime } from '../ui/data/age.tsx'
import { Button } from '../ui/controls/button.tsx'
import { ConfirmDialog, Dialog } from '../ui/controls/dialog.tsx'
import { CodeBlock } from '../ui/data/code-block.tsx'
import { NotLoaded } from '../ui/data/error-notice.tsx'
import { SelectField, TextField } from '../ui/controls/fields.tsx'
import './keys-section.css'

/** The API keys of the project. */
export function KeysSection() {
  const keys = useKeys()
  const project = useProjectId()
  return (
    <>
      <p className="dim">
        Programs use a key (PLAYHEAD_API_KEY) to send and read sessions of the project “{project}”. The secret
        is shown only once, when you create the key; only its hash is stored.
      </p>
      {keys.data === undefined ? (
        <NotLoaded query={keys} lines={3} />
      ) : keys.data.length === 0 ? (
        <p className="settings-note">No keys yet.</p>
      ) : (
        <KeyTable keys={keys.data} />
      )}
      <h2>New key</h2>
      <NewKey />
    </>
  )
}

function KeyTable({ keys }: { keys: readonly Key[] }) {
  const [revoking, setRevoking] = useState<Key>()
  const revocation = useRevokeKey()
  return (
    <>
      <table className="settings-table">
        <thead>
          <tr>
            <th>Name</th>
            <th className="extra">Starts with</th>
            <th>Permissions</th>
            <th>Last used</th>
            <th className="extra">Created</th>
            <th className="extra">Expires</th>
            <th>
              <span className="visually-hidden">Revoke</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <KeyRow key={key.id} keyOfProject={key} onRevoke={() => setRevoking(key)} />
          ))}
        </tbody>
      </table>
      <ConfirmDialog
        title={`Revoke “${revoking?.name ?? ''}”?`}
        description="Programs that use this key can no longer send or read sessions. This can't be undone."
        action="Revoke"
        isOpen={revoking !== undefined}
        onOpenChange={(isOpen) => !isOpen && setRevoking(undefined)}
        isWorking={revocation.isPending}
        error={revocation.error}
        onConfirm={() =>
          revoking !== undefined &&
          revocation.mutate(revoking.id, { onSuccess: () => setRevoking(undefined) })
        }
      />
    </>
  )
}

function KeyRow({ keyOfProject: key, onRevoke }: { keyOfProject: Key; onRevoke: () => void }) {
  return (
    <tr data-off={key.revokedAt !== null || isExpired(key)}>
      <td>
        {visibleText(key.name)}
        <div className="key-hint mono dim">{key.hint}…</div>
      </td>
      <td className="extra mono">{key.hint}…</td>
      <td>{key.scopes.join(', ')}</td>
      <td>{key.lastUsedAt === null ? 'Never' : <Age time={key.lastUsedAt} />}</td>
      <td className="extra">
        <Age time={key.createdAt} />
      </td>
      <td className="extra">
        {key.expiresAt === null ? (
          'Never'
        ) : (
          <time dateTime={key.expiresAt} title={formatExactTime(key.expiresAt)}>
            {key.expiresAt.slice(0, 10)}
          </time>
        )}
      </td>
      <td className="tools">
        {key.revokedAt === null && isExpired(key) ? (
          <span>Expired</span>
        ) : key.revokedAt === null ? (
          <Button look="danger" aria-label={`Revoke ${key.name}`} onClick={onRevoke}>
            Revoke
          </Button>
        ) : (
          <span>
            Revoked <Age time={key.revokedAt} />
          </span>
        )}
      </td>
    </tr>
  )
}

function isExpired({ expiresAt }: Key): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now()
}

const lifetimes = [
  { value: '', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
]
const DAY_MS = 86_400_000

const scopeTexts: Record<KeyScope, string> = {
  ingest: 'send sessions',
  read: 'read sessions',
  admin: 'change settings, delete',
}

function NewKey() {
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<KeyScope[]>(['ingest', 'read'])
  const [days, setDays] = useState('')
  const creation = useCreateKey()
  const toggle = (scope: KeyScope) =>
    setScopes(keyScopes.filter((known) => (known === scope) !== scopes.includes(known)))
  return (
    <form
      className="settings-form"
      onSubmit={(event) => {
        event.preventDefault()
        const expiresAt = days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString()
        creation.mutate({ name: name.trim(), scopes, expiresAt }, { onSuccess: () => setName('') })
      }}
    >
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        maxLength={200}
        required
        error={creation.error?.message}
        hint="Who uses the key, for example “CI” or “production”."
      />
      <fieldset className="key-scopes">
        <legend>Permissions</legend>
        {keyScopes.map((scope) => (
          <label key={scope}>
            <input type="checkbox" checked={scopes.includes(scope)} onChange={() => toggle(scope)} />
            <span>
              {scope} <span className="dim">{scopeTexts[scope]}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <SelectField label="Expires" value={days} onChange={setDays} options={lifetimes} />
      <Button
        type="submit"
        look="accent"
        disabled={name.trim() === '' || scopes.length === 0 || creation.isPending}
      >
        Create key
      </Button>
      <Secret secret={creation.data?.secret} onClose={() => creation.reset()} />
    </form>
  )
}

function Secret({ secret, onClose }: { secret: string | undefined; onClose: () => void }) {
  return (
    <Dialog
      title="Your new key"
      description="Copy it now. It is not stored and can't be shown again."
      isOpen={secret !== undefined}
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      <div className="key-secret">
        <CodeBlock label="key" text={secret ?? ''} />
        <CodeBlock label="setting" text={`PLAYHEAD_API_KEY=${secret ?? ''}`} />
        <Button look="accent" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  )
}
