import { statfsSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'
import { chromiumOptions } from './e2e/chromium-options.ts'
import { SlowestFirst } from './scripts/slowest-first.ts'

// The engine runs at this priority. Among tests at a higher one it would hardly run on a busy machine.
if (getPriority() < 10) setPriority(10)
// A store writes many small files, and a disk takes several times as long for them as memory does.
if (process.env.TMPDIR === undefined && hasRoom('/dev/shm')) process.env.TMPDIR = '/dev/shm'
// Every process that a test starts loads the same modules. Compiling them takes half of a short program's time.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('./node_modules/.cache/compiled', import.meta.url))

// Not `source`: packages in node_modules use that name for TypeScript that Node does not take from there.
const resolve = { conditions: ['playhead-source'] }

const inNode = {
  // The embedded engine crashes in worker threads.
  pool: 'forks',
  setupFiles: './scripts/test-setup.ts',
  // On a machine that is busy with other work, everything takes several times as long. What never ends is still found.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000, interval: 40 } },
  // Machines of builds stall for seconds now and then. Vitest lists what passed only the second time.
  retry: process.env.CI === 'true' ? 1 : 0,
} as const

export default defineConfig({
  resolve,
  ssr: { resolve },
  test: {
    globalSetup: './packages/server/test/empty-store.ts',
    // Most tests wait for a server, an engine or a browser: as many processes as cores leave a small machine idle.
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    projects: [
      {
        resolve,
        ssr: { resolve },
        test: {
          ...inNode,
          name: 'unit',
          // One process runs many files, because starting one and loading the modules takes longer than most tests.
          isolate: false,
          include: ['packages/*/src/**/*.test.ts'],
        },
      },
      {
        resolve,
        ssr: { resolve },
        test: {
          ...inNode,
          name: 'server',
          isolate: false,
          include: ['packages/server/test/**/*.test.ts'],
        },
      },
      {
        resolve,
        ssr: { resolve },
        test: {
          ...inNode,
          name: 'node',
          include: [
            'packages/{dashboard,model,playhead,react}/test/**/*.test.ts',
            'examples/**/*.test.ts',
            'clients/*/*.test.ts',
            'e2e/emitters/*.test.ts',
            'scripts/**/*.test.ts',
            'bench/**/*.test.ts',
          ],
        },
      },
      {
        resolve,
        ssr: { resolve },
        test: {
          ...inNode,
          name: 'e2e',
          // The files that a process runs share its browser.
          isolate: false,
          include: ['e2e/*.test.ts'],
        },
      },
      {
        resolve: { conditions: ['playhead-source', 'module', 'browser', 'development|production'] },
        test: {
          name: 'browser',
          include: ['packages/dashboard/src/**/*.test.tsx'],
          testTimeout: 60_000,
          expect: { poll: { timeout: 30_000 } },
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            instances: [{ browser: 'chromium' }],
            provider: playwright({ launchOptions: chromiumOptions }),
          },
        },
      },
    ],
  },
})

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize > 8 * 1024 ** 3
  } catch {
    return false
  }
}
