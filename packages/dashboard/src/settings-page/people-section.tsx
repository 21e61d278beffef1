import { visibleText } from '@playhead/model'
import { useMe, usePeople, useUpdatePerson, type Person, type Role } from '../api/access.ts'
import { useProjectId } from '../api/projects.ts'
import { Button } from '../ui/controls/button.tsx'
import { Age } from '../ui/data/age.tsx'
import { ErrorNotice, NotLoaded } from '../ui/data/error-notice.tsx'
import './people-section.css'

/** Who logged in with a provider, and what they may do. */
export function PeopleSection() {
  const people = usePeople()
  const me = useMe()
  return (
    <>
      <p className="dim">
        Viewers read. Members also tag, judge and re-run sessions and decide on issues. Admins also manage
        keys, prices, retention and deletions; an admin of all projects manages the server.
      </p>
      {people.data === undefined ? (
        <NotLoaded query={people} lines={4} />
      ) : people.data.length === 0 ? (
        <p className="settings-note">
          {me.data?.hasOidc === true
            ? 'Nobody has logged in with the provider yet. People appear here after their first login.'
            : 'This server has no login provider: everybody uses the password. Set PLAYHEAD_OIDC_ISSUER and PLAYHEAD_OIDC_CLIENT_ID to let people log in with your own.'}
        </p>
      ) : (
        <PeopleTable people={people.data} ownId={me.data?.person?.id} />
      )}
    </>
  )
}

const EVERYWHERE = '*'

function PeopleTable({ people, ownId }: { people: readonly Person[]; ownId: string | undefined }) {
  const project = useProjectId()
  const update = useUpdatePerson()
  const setRole = (person: Person, place: string, role: Role | undefined) =>
    update.mutate({ id: person.id, roles: withRole(person.roles, place, role) })
  return (
    <>
      <table className="settings-table people-table">
        <thead>
          <tr>
            <th>Person</th>
            <th>All projects</th>
            <th>This project</th>
            <th className="extra">Last login</th>
            <th>
              <span className="visually-hidden">Access</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {people.map((person) => (
            <tr key={person.id} className={person.isDisabled ? 'is-disabled' : ''}>
              <td>
                {visibleText(person.name)}
                <div className="dim">{visibleText(person.email || person.subject)}</div>
              </td>
              {[EVERYWHERE, project].map((place) => (
                <td key={place} data-place={place === EVERYWHERE ? 'All projects' : 'This project'}>
                  <RoleSelect
                    label={`Role of ${person.name} in ${place === EVERYWHERE ? 'all projects' : place}`}
                    role={person.roles[place]}
                    // So that nobody locks themselves out by mistake.
                    isDisabled={
                      update.isPending || person.isDisabled || (place === EVERYWHERE && person.id === ownId)
                    }
                    onChange={(role) => setRole(person, place, role)}
                  />
                </td>
              ))}
              <td className="extra">
                <Age time={person.lastLoginAt} />
              </td>
              <td>
                {person.id !== ownId && (
                  <Button
                    disabled={update.isPending}
                    onClick={() => update.mutate({ id: person.id, isDisabled: !person.isDisabled })}
                  >
                    {person.isDisabled ? 'Enable' : 'Disable'}
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {update.error !== null && <ErrorNotice error={update.error} />}
    </>
  )
}

function withRole(roles: Person['roles'], place: string, role: Role | undefined): Person['roles'] {
  const { [place]: _, ...others } = roles
  return role === undefined ? others : { ...others, [place]: role }
}

function RoleSelect(props: {
  label: string
  role: Role | undefined
  isDisabled: boolean
  onChange: (role: Role | undefined) => void
}) {
  const { label, role, isDisabled, onChange } = props
  return (
    <select
      className="people-role"
      aria-label={label}
      value={role ?? ''}
      disabled={isDisabled}
      onChange={({ target }) => onChange(target.value === '' ? undefined : (target.value as Role))}
    >
      <option value="">None</option>
      <option value="viewer">Viewer</option>
      <option value="member">Member</option>
      <option value="admin">Admin</option>
    </select>
  )
}
