import { countOf, visibleText } from '@playhead/model'
import { useState } from 'react'
import { useEndLogin, useEndOtherLogins, useLogins, type Login } from '../api/audit.ts'
import { useMe } from '../api/me.ts'
import { Button } from '../ui/controls/button.tsx'
import { ConfirmDialog } from '../ui/controls/dialog.tsx'
import { Age, formatExactTime } from '../ui/data/age.tsx'
import { ErrorNotice, NotLoaded } from '../ui/data/error-notice.tsx'

/** Where people are logged in. */
export function LoginsSection() {
  const logins = useLogins()
  const me = useMe()
  return (
    <>
      <p className="dim">
        Browsers and programs that used the password. A login ends with the logout, after 30 days, when the
        password changes, or when you end it here.
      </p>
      {logins.data === undefined ? (
        <NotLoaded query={logins} lines={3} />
      ) : logins.data.length === 0 ? (
        <p className="settings-note">
          {me.data?.isAuthOn === false
            ? 'Auth is off on this server: nobody logs in.'
            : 'Nobody is logged in.'}
        </p>
      ) : (
        <LoginTable logins={logins.data} />
      )}
    </>
  )
}

function LoginTable({ logins }: { logins: readonly Login[] }) {
  const [isEndingOthers, setEndingOthers] = useState(false)
  const ending = useEndLogin()
  const endingOthers = useEndOtherLogins()
  const others = logins.filter(({ isCurrent }) => !isCurrent)
  return (
    <>
      <table className="settings-table">
        <thead>
          <tr>
            <th>Device</th>
            <th>Address</th>
            <th>Last used</th>
            <th className="extra">Logged in</th>
            <th>
              <span className="visually-hidden">End</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {logins.map(({ id, device, address, lastUsedAt, createdAt, expiresAt, isCurrent }) => (
            <tr key={id}>
              <td>{visibleText(device)}</td>
              <td className="mono">{visibleText(address)}</td>
              <td>{isCurrent || lastUsedAt === null ? '–' : <Age time={lastUsedAt} />}</td>
              <td className="extra" title={`Until ${formatExactTime(expiresAt)}`}>
                <Age time={createdAt} />
              </td>
              <td className="tools">
                {isCurrent ? (
                  <span className="dim">This browser</span>
                ) : (
                  <Button
                    look="danger"
                    aria-label={`End the login of ${visibleText(device)}`}
                    disabled={ending.isPending}
                    onClick={() => ending.mutate(id)}
                  >
                    End
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {ending.error !== null && <ErrorNotice error={ending.error} />}
      {others.length > 0 && (
        <div className="settings-form">
          <Button look="danger" onClick={() => setEndingOthers(true)}>
            End all other logins
          </Button>
        </div>
      )}
      <ConfirmDialog
        title={`End ${countOf(others.length, 'other login')}?`}
        description="They have to enter the password again. Keys of programs keep working."
        action="End logins"
        isOpen={isEndingOthers}
        onOpenChange={setEndingOthers}
        isWorking={endingOthers.isPending}
        error={endingOthers.error}
        onConfirm={() => endingOthers.mutate(undefined, { onSuccess: () => setEndingOthers(false) })}
      />
    </>
  )
}
