// The browser tests need Chromium. Installs Debian's headless shell, or all of Chromium if there is no such package. If that
// is impossible, it says what to do and fails, because a test that did not run must not look like one that passed.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { findBrowser, HEADLESS_SHELL } from './find-browser.ts'

if (process.env.PLAYHEAD_CHROMIUM === undefined && !existsSync(HEADLESS_SHELL) && canInstall())
  installBrowser()

if (!existsSync(findBrowser())) {
  console.error(`The browser tests need Chromium, but there is none at ${findBrowser()}.
Install it (Debian: apt-get install chromium-headless-shell), or name one with PLAYHEAD_CHROMIUM=/path/to/chromium.
To run everything else: npm run test:all -- --project unit --project server --project node --exclude 'e2e/**'`)
  process.exit(1)
}

function canInstall() {
  return process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')
}

function installBrowser() {
  console.log('Installing Chromium for the browser tests (once)…')
  // Without a word: some releases have no package of the shell.
  if (install('chromium-headless-shell', 'ignore') || existsSync(findBrowser())) return
  spawnSync('apt-get', ['update'], { stdio: ['ignore', 'ignore', 'inherit'] })
  if (!install('chromium-headless-shell', 'ignore')) install('chromium', 'inherit')
}

function install(name, stderr) {
  const { status } = spawnSync('apt-get', ['install', '--yes', '--no-install-recommends', name], {
    stdio: ['ignore', 'ignore', stderr],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  return status === 0
}
