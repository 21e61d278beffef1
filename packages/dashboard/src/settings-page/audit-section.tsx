import { visibleText } from '@playhead/model'
import { useState } from 'react'
import { useAudit, type AuditEntry } from '../api/audit.ts'
import { useProjectId } from '../api/projects.ts'
import { Button } from '../ui/controls/button.tsx'
import { SelectField } from '../ui/controls/fields.tsx'
import { SearchInput } from '../ui/controls/search-input.tsx'
import { Age } from '../ui/data/age.tsx'
import { ErrorNotice, NotLoaded } from '../ui/data/error-notice.tsx'
import './audit-section.css'

const groups = [
  { value: '', label: 'Everything' },
  { value: 'login', label: 'Logins' },
  { value: 'key', label: 'Keys' },
  { value: 'project', label: 'Settings' },
  { value: 'terminal', label: 'Terminals' },
  { value: 'sessions', label: 'Sessions' },
  { value: 'share', label: 'Share links' },
  { value: 'issue', label: 'Issues' },
  { value: 'monitor', label: 'Monitors' },
  { value: 'destination', label: 'Destinations' },
  { value: 'backup', label: 'Backups' },
]

const actionWords: Record<AuditEntry['action'], string> = {
  'login.started': 'Logged in',
  'login.failed': 'Wrong password',
  'login.ended': 'Login ended',
  'login.recovery-link': 'Recovery link',
  'login.oidc': 'Logged in with a provider',
  'key.created': 'Key created',
  'key.revoked': 'Key revoked',
  'key.refused': 'Key refused',
  'project.created': 'Project created',
  'person.changed': 'Roles changed',
  'project.changed': 'Settings changed',
  'terminal.paired': 'Terminal paired',
  'sessions.deleted': 'Sessions deleted',
  'sessions.exported': 'Sessions exported',
  'sessions.repriced': 'Costs recomputed',
  'sessions.tagged': 'Tags changed',
  'sessions.rederived': 'Steps re-derived',
  'share.created': 'Share link created',
  'share.listed': 'Share links listed',
  'share.revoked': 'Share link revoked',
  'issue.changed': 'Issue changed',
  'monitor.created': 'Monitor created',
  'monitor.changed': 'Monitor changed',
  'monitor.deleted': 'Monitor deleted',
  'destination.created': 'Destination created',
  'destination.changed': 'Destination changed',
  'destination.deleted': 'Destination deleted',
  'destination.tested': 'Test message sent',
  'backup.downloaded': 'Backup downloaded',
  'backup.restored': 'Backup restored',
  'backup.undone': 'Restore undone',
}

/** Attempts that were refused. */
const refusals = new Set<AuditEntry['action']>(['login.failed', 'key.refused'])

/** Who did what to the server. */
export function AuditSection() {
  const current = useProjectId()
  const [action, setAction] = useState('')
  const [project, setProject] = useState('')
  const [text, setText] = useState('')
  const audit = useAudit({ project, action, text })
  const entries = audit.data?.pages.flatMap((page) => page.entries)
  return (
    <>
      <p className="dim">
        Logins, keys, settings, deletions, backups and restores: who, when, and from which address. Entries
        are kept for 400 days.
      </p>
      <div className="audit-filter">
        <SelectField label="Show" value={action} onChange={setAction} options={groups} />
        <SelectField
          label="of"
          value={project}
          onChange={setProject}
          options={[
            { value: '', label: 'the whole server' },
            { value: current, label: `project ${current}` },
          ]}
        />
        <SearchInput
          label="Search the audit log"
          placeholder="Name, address, key …"
          value={text}
          onChange={setText}
        />
      </div>
      {entries === undefined ? (
        <NotLoaded query={audit} lines={6} />
      ) : entries.length === 0 ? (
        <p className="settings-note">
          {action === '' && project === '' && text === ''
            ? 'Nothing has happened yet: no logins, no changes of keys or settings.'
            : 'No entries match.'}
        </p>
      ) : (
        <AuditTable entries={entries} />
      )}
      {audit.error !== null && entries !== undefined && <ErrorNotice error={audit.error} />}
      {audit.hasNextPage && (
        <Button disabled={audit.isFetchingNextPage} onClick={() => void audit.fetchNextPage()}>
          Show older entries
        </Button>
      )}
    </>
  )
}

function AuditTable({ entries }: { entries: readonly AuditEntry[] }) {
  return (
    <table className="settings-table audit-table">
      <thead>
        <tr>
          <th>When</th>
          <th>What</th>
          <th>Who</th>
          <th className="extra">Project</th>
        </tr>
      </thead>
      <tbody>
        {entries.map(({ id, at, action, project, caller, subject, detail }) => (
          <tr key={id}>
            <td className="audit-time">
              <Age time={at} />
            </td>
            <td>
              <span className={refusals.has(action) ? 'audit-refused' : ''}>{actionWords[action]}</span>{' '}
              <b>{visibleText(subject)}</b>
              {detail !== '' && <div className="dim">{visibleText(detail)}</div>}
            </td>
            <td>
              {describeCaller(caller)}
              <div className="dim mono">{visibleText(caller.address)}</div>
            </td>
            <td className="extra">{project ?? <span className="dim">Server</span>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function describeCaller({ kind, name }: AuditEntry['caller']): string {
  switch (kind) {
    case 'key':
      return `Key ${visibleText(name)}`
    case 'server':
      return 'Server'
    case 'anyone':
      return name === '' ? 'Anyone (auth is off)' : visibleText(name)
    case 'person':
      return visibleText(name)
  }
}
