import { useSyncExternalStore } from 'react'

export type Theme = 'system' | 'light' | 'dark'

const KEY = 'playhead.theme'

/** The user's choice; by default the system's. */
export function readTheme(): Theme {
  const stored = localStorage.getItem(KEY)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

export function applyTheme(theme: Theme = readTheme()): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

export function chooseTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(KEY)
  else localStorage.setItem(KEY, theme)
  applyTheme(theme)
}

let version = 0

/** Changes whenever the colours change; for drawing on a canvas. */
export function useThemeVersion(): number {
  return useSyncExternalStore(subscribe, () => version)
}

function subscribe(listener: () => void): () => void {
  const onChange = () => {
    version += 1
    listener()
  }
  const media = matchMedia('(prefers-color-scheme: dark)')
  media.addEventListener('change', onChange)
  const observer = new MutationObserver(onChange)
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  return () => {
    media.removeEventListener('change', onChange)
    observer.disconnect()
  }
}

/** The current values of CSS variables inside an element, for a canvas, which can't use the variables. */
export function readColours<Name extends string>(
  element: HTMLElement,
  variables: Record<Name, string>,
): Record<Name, string> {
  const probe = document.createElement('span')
  // With reduced motion every element has a short transition, and a colour in transition still has its old value.
  probe.style.setProperty('transition', 'none', 'important')
  element.append(probe)
  const colours = { ...variables }
  for (const name in variables) {
    probe.style.color = `var(${variables[name]})`
    colours[name] = getComputedStyle(probe).color
  }
  probe.remove()
  return colours
}
