import { countOf, visibleText } from '@playhead/model'
import { useState } from 'react'
import { useEndLogin, useEndOtherLogins, useLogins, type Login } from '../api/audit.ts'
import { useMe } from '../api/access.ts'
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
  const ending = useEndLogin()
  const others = logins.filter(({ isCurrent }) => !isCurrent).length
  return (
    <>
      <table className="settings-table">
        <thead>
          <tr>
            <th>Device</th>
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
              <td>
                {visibleText(device)}
                <div className="dim mono">{visibleText(address)}</div>
              </td>
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
      {others > 0 && <EndOthers count={others} />}
    </>
  )
}

function EndOthers({ count }: { count: number }) {
  const [isOpen, setOpen] = useState(false)
  const ending = useEndOtherLogins()
  return (
    <div className="settings-form">
      <Button look="danger" onClick={() => setOpen(true)}>
        End all other logins
      </Button>
      <ConfirmDialog
        title={`End ${countOf(count, 'other login')}?`}
        description="They have to enter the password again. Keys of programs keep working."
        action="End logins"
        isOpen={isOpen}
        onOpenChange={setOpen}
        isWorking={ending.isPending}
        error={ending.error}
        onConfirm={() => ending.mutate(undefined, { onSuccess: () => setOpen(false) })}
      />
    </div>
  )
}
