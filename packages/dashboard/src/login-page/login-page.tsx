import { useRouter, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useLogin, useMe } from '../api/access.ts'
import { Button } from '../ui/controls/button.tsx'
import { ErrorNotice } from '../ui/data/error-notice.tsx'
import { TextField } from '../ui/controls/fields.tsx'
import { ThemeMenu } from '../ui/controls/theme-menu.tsx'
import { usePageTitle } from '../ui/browser/use-page-title.ts'
import './login-page.css'

export function LoginPage() {
  const { back } = useSearch({ from: '/login' })
  usePageTitle('Log in')
  const me = useMe()
  const router = useRouter()
  const isIn = me.data !== undefined && me.data.kind !== 'nobody'
  useEffect(() => {
    if (isIn) router.history.replace(pathBack(back))
  }, [isIn, back, router])
  return (
    <main className="login-page">
      <div className="login-theme">
        <ThemeMenu />
      </div>
      <div className="login-box">
        <svg viewBox="0 0 12 18" width="20" height="30" aria-hidden="true">
          <path d="M0 0h12L7 7v11H5V7z" fill="currentColor" />
        </svg>
        <h1>Log in to Playhead</h1>
        {me.error === null ? (
          <>
            {me.data?.hasOidc === true && <ProviderLogin back={pathBack(back)} />}
            <LoginForm isFirst={me.data?.hasOidc !== true} />
          </>
        ) : (
          <ErrorNotice error={me.error} onRetry={() => void me.refetch()} />
        )}
      </div>
    </main>
  )
}

/** The browser leaves this page: the provider asks who it is, and sends it back. */
function ProviderLogin({ back }: { back: string }) {
  return (
    <>
      <a
        className="button button-accent login-provider"
        href={`/api/login/oidc?back=${encodeURIComponent(back)}`}
      >
        Log in with single sign-on
      </a>
      <p className="login-or dim">or with the password of the server</p>
    </>
  )
}

function LoginForm({ isFirst }: { isFirst: boolean }) {
  const [password, setPassword] = useState('')
  const login = useLogin()
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        login.mutate(password)
      }}
    >
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        // The page has nothing else to focus.
        autoFocus={isFirst}
        value={password}
        onChange={setPassword}
        error={login.error?.message}
        hint="The server's PLAYHEAD_PASSWORD."
      />
      <Button type="submit" look={isFirst ? 'accent' : 'plain'} disabled={password === '' || login.isPending}>
        {login.isPending ? 'Logging in…' : 'Log in'}
      </Button>
    </form>
  )
}

/** Where to go after the login: always a page of this server, whatever the address says. */
export function pathBack(back: string | undefined): string {
  const isOurs = back !== undefined && /^\/(?![/\\])/.test(back) && !back.startsWith('/login')
  return isOurs ? back : '/sessions'
}
