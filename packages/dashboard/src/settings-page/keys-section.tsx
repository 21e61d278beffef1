import { useState } from 'react'
import { keyScopes, useCreateKey, useKeys, useRevokeKey, type Key, type KeyScope } from '../api/keys.ts'
import { useProjectId } from '../api/projects.ts'
import { Age } from '../ui/data/age.tsx'
import { Button } from '../ui/controls/button.tsx'
import { ConfirmDialog, Dialog } from '../ui/controls/dialog.tsx'
import { CodeBlock } from '../ui/data/code-block.tsx'
import { NotLoaded } from '../ui/data/error-notice.tsx'
import { TextField } from '../ui/controls/fields.tsx'
import './keys-section.css'

/** The keys that programs of this project use. */
export function KeysSection() {
  const keys = useKeys()
  const project = useProjectId()
  return (
    <>
      <p className="dim">
        Programs send and read sessions of the project “{project}” with a key (PLAYHEAD_API_KEY). Its secret
        is shown once, when it is created; only a hash of it is stored.
      </p>
      {keys.data === undefined ? (
        <NotLoaded query={keys} lines={3} />
      ) : keys.data.length === 0 ? (
        <p className="settings-said">No keys yet.</p>
      ) : (
        <KeyTable keys={keys.data} />
      )}
      <h2>New key</h2>
      <NewKey />
    </>
  )
}

function KeyTable({ keys }: { keys: readonly Key[] }) {
  const [doomed, setDoomed] = useState<Key>()
  const revocation = useRevokeKey()
  return (
    <>
      <table className="settings-table">
        <thead>
          <tr>
            <th>Name</th>
            <th>Begins with</th>
            <th>May</th>
            <th className="extra">Created</th>
            <th>
              <span className="visually-hidden">Revoke</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id} data-off={key.revokedAt !== null}>
              <td>{key.name}</td>
              <td className="mono">{key.hint}…</td>
              <td>{key.scopes.join(', ')}</td>
              <td className="extra">
                <Age time={key.createdAt} />
              </td>
              <td className="tools">
                {key.revokedAt === null ? (
                  <Button look="danger" aria-label={`Revoke ${key.name}`} onClick={() => setDoomed(key)}>
                    Revoke
                  </Button>
                ) : (
                  <span>
                    revoked <Age time={key.revokedAt} />
                  </span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <ConfirmDialog
        title={`Revoke “${doomed?.name ?? ''}”?`}
        description="Programs that use it can neither send nor read from now on. This can't be undone."
        action="Revoke"
        isOpen={doomed !== undefined}
        onOpenChange={(isOpen) => !isOpen && setDoomed(undefined)}
        isWorking={revocation.isPending}
        error={revocation.error}
        onConfirm={() =>
          doomed !== undefined && revocation.mutate(doomed.id, { onSuccess: () => setDoomed(undefined) })
        }
      />
    </>
  )
}

const scopeTexts: Record<KeyScope, string> = {
  ingest: 'send sessions',
  read: 'read sessions',
  admin: 'change settings, delete',
}

function NewKey() {
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<KeyScope[]>(['ingest', 'read'])
  const creation = useCreateKey()
  const toggle = (scope: KeyScope) =>
    setScopes(keyScopes.filter((known) => (known === scope) !== scopes.includes(known)))
  return (
    <form
      className="settings-form"
      onSubmit={(event) => {
        event.preventDefault()
        creation.mutate({ name: name.trim(), scopes }, { onSuccess: () => setName('') })
      }}
    >
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        maxLength={200}
        required
        error={creation.error?.message}
        hint="Who uses it: “CI”, “production”."
      />
      <fieldset className="key-scopes">
        <legend>May</legend>
        {keyScopes.map((scope) => (
          <label key={scope}>
            <input type="checkbox" checked={scopes.includes(scope)} onChange={() => toggle(scope)} />
            <span>
              {scope} <span className="dim">{scopeTexts[scope]}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <Button
        type="submit"
        look="accent"
        disabled={name.trim() === '' || scopes.length === 0 || creation.isPending}
      >
        Create
      </Button>
      <Secret secret={creation.data?.secret} onClose={() => creation.reset()} />
    </form>
  )
}

function Secret({ secret, onClose }: { secret: string | undefined; onClose: () => void }) {
  return (
    <Dialog
      title="The key, this once"
      description="Copy it now: it is not stored and can't be shown again."
      isOpen={secret !== undefined}
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      <div className="key-secret">
        <CodeBlock label="the key" text={secret ?? ''} />
        <CodeBlock label="the setting" text={`PLAYHEAD_API_KEY=${secret ?? ''}`} />
        <Button look="accent" onClick={onClose}>
          I have copied it
        </Button>
      </div>
    </Dialog>
  )
}
