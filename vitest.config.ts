import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'

// Not `source`: packages in node_modules use that name for TypeScript that Node does not take from there.
const resolve = { conditions: ['playhead-source'] }

export default defineConfig({
  test: {
    // Most tests wait for a server, an engine or a browser: one process fewer than cores leaves a small machine idle.
    maxWorkers: 2,
    projects: [
      {
        resolve,
        ssr: { resolve },
        test: {
          name: 'node',
          // The embedded engine crashes in worker threads.
          pool: 'forks',
          include: [
            'packages/*/src/**/*.test.ts',
            'packages/*/test/**/*.test.ts',
            'examples/**/*.test.ts',
            'clients/*/*.test.ts',
            'e2e/**/*.test.ts',
            'scripts/**/*.test.ts',
            'bench/**/*.test.ts',
          ],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          // What a page or a server comes to, on however busy a machine.
          expect: { poll: { timeout: 10_000, interval: 40 } },
        },
      },
      {
        resolve: { conditions: ['playhead-source', 'module', 'browser', 'development|production'] },
        test: {
          name: 'browser',
          include: ['packages/dashboard/src/**/*.test.tsx'],
          testTimeout: 15_000,
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            instances: [{ browser: 'chromium' }],
            provider: playwright({
              launchOptions: {
                executablePath: process.env.PLAYHEAD_CHROMIUM ?? '/usr/bin/chromium',
                args: [
                  '--no-sandbox',
                  '--disable-background-networking',
                  '--disable-component-update',
                  '--disable-sync',
                  '--no-first-run',
                ],
              },
            }),
          },
        },
      },
    ],
  },
})
