import { existsSync } from 'node:fs'

/** Without the parts that only people see, a page needs a third less of the processor. */
export const HEADLESS_SHELL = '/usr/bin/chromium-headless-shell'
const CHROMIUM = '/usr/bin/chromium'

/** The browser of the tests: the one that is named, otherwise Debian's headless shell, otherwise Debian's Chromium. */
export function findBrowser(): string {
  return process.env.PLAYHEAD_CHROMIUM ?? (existsSync(HEADLESS_SHELL) ? HEADLESS_SHELL : CHROMIUM)
}
