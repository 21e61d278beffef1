import { createRequire } from 'node:module'
import type { Pricer } from '@playhead/model'

/** In the repository it is next to this file, in the package next to the bundle. */
const file = import.meta.url.endsWith('.ts') ? './price-table.ts' : './price-table.cjs'

let loaded: Pricer | null | undefined

/** The price table, loaded at once on first use; null when it can't be found, as in an app that was bundled without it. */
export function loadPrices(): Pricer | null {
  if (loaded === undefined) {
    try {
      loaded = (createRequire(import.meta.url)(file) as { pricer: Pricer }).pricer
    } catch {
      loaded = null
    }
  }
  return loaded
}
