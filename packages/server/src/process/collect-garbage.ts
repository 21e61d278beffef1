import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const IDLE_MS = 2_000

/**
 * Once after the start: what loading the program left behind would otherwise stay in memory until something else fills it, which in
 * an idle server is never.
 */
export function collectGarbageSoon(): void {
  setTimeout(() => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as (options: { type: 'major'; flavor: 'last-resort' }) => void
    setFlagsFromString('--no-expose-gc')
    collect({ type: 'major', flavor: 'last-resort' })
  }, IDLE_MS).unref()
}
