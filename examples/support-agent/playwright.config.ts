import { defineConfig } from '@playwright/test'

const port = process.env.CHAT_PORT ?? '4173'
const executablePath = process.env.PLAYHEAD_CHROMIUM

export default defineConfig({
  testDir: 'e2e',
  reporter: [['list'], ['html', { open: 'never' }]],
  use: {
    baseURL: `http://127.0.0.1:${port}`,
    launchOptions: executablePath === undefined ? {} : { executablePath },
  },
  webServer: {
    command: 'node --conditions=playhead-source e2e/chat-server.ts',
    url: `http://127.0.0.1:${port}`,
    // The agent must record to the folder that the tests read.
    env: { PLAYHEAD_DIR: process.env.PLAYHEAD_RUN_DIR ?? '.playhead/e2e', CHAT_PORT: port },
  },
})
