import { findBrowser } from '../scripts/find-browser.ts'

/** Debian's Chromium, without background traffic. Machines that run tests have no graphics card, and emulating one is slow. */
export const chromiumOptions = {
  executablePath: findBrowser(),
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
  ],
}
