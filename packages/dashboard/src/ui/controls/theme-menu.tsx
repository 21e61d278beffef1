import { Monitor, Moon, Sun } from 'lucide-react'
import { useState } from 'react'
import { chooseTheme, readTheme, type Theme } from '../browser/theme.ts'
import { IconButton } from './button.tsx'

const next: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' }
const icons = { system: Monitor, light: Sun, dark: Moon }

/** A button that cycles through the themes: system, light, dark. */
export function ThemeMenu() {
  const [theme, setTheme] = useState(readTheme)
  const Icon = icons[theme]
  const change = () => {
    chooseTheme(next[theme])
    setTheme(next[theme])
  }
  return (
    <IconButton label={`Theme: ${theme}. Switch to ${next[theme]}`} onClick={change}>
      <Icon size={15} aria-hidden="true" />
    </IconButton>
  )
}
