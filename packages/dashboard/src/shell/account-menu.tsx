import { LogOut } from 'lucide-react'
import { useLogout } from '../api/me.ts'
import { IconButton } from '../ui/controls/button.tsx'

/** The way out, on servers that people log in to. */
export function AccountMenu() {
  const logout = useLogout()
  return (
    <IconButton label="Log out" onClick={() => logout.mutate()} disabled={logout.isPending}>
      <LogOut size={15} aria-hidden="true" />
    </IconButton>
  )
}
