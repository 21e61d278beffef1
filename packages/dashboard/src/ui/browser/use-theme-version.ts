import { useSyncExternalStore } from 'react'

let version = 0

/** A number that changes when the colours do, for what is drawn without CSS. */
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
