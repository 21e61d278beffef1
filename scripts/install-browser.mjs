// The browser tests need Chromium. Installs Debian's package if it is missing. If that is impossible, it says what to do and
// fails, because a test that did not run must not look like one that passed.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const browser = process.env.PLAYHEAD_CHROMIUM ?? '/usr/bin/chromium'

if (!existsSync(browser) && !installChromium()) {
  console.error(`The browser tests need Chromium, but there is none at ${browser}.
Install it (Debian: apt-get install chromium), or name one with PLAYHEAD_CHROMIUM=/path/to/chromium.
To run everything else: npm run test:all -- --project node --exclude 'e2e/**'`)
  process.exit(1)
}

function installChromium() {
  if (
    process.env.PLAYHEAD_CHROMIUM !== undefined ||
    process.getuid?.() !== 0 ||
    !existsSync('/usr/bin/apt-get')
  )
    return false
  console.log('Installing Chromium for the browser tests (once)…')
  const options = {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  }
  const install = () =>
    spawnSync('apt-get', ['install', '--yes', '--no-install-recommends', 'chromium'], options).status === 0
  return (
    (install() || (spawnSync('apt-get', ['update'], options).status === 0 && install())) &&
    existsSync(browser)
  )
}
