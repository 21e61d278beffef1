import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Not `source`: packages in node_modules use that name for TypeScript that Node does not take from there.
  resolve: { conditions: ['playhead-source'] },
  ssr: { resolve: { conditions: ['playhead-source'] } },
  test: {
    // The embedded engine crashes in worker threads.
    pool: 'forks',
    // Most tests wait for a server, an engine or a browser: one process fewer than cores leaves a small machine idle.
    maxWorkers: 2,
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
})
