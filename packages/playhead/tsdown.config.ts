import { defineConfig, type UserConfig } from 'tsdown'

const shared: UserConfig = {
  outDir: 'dist',
  platform: 'node',
  target: 'node22.15',
  // At the root of the repository: types of files outside of its folder would be written next to their sources.
  tsconfig: '../../tsconfig.build.json',
  clean: false,
  // Everything but OpenTelemetry's API, which the program and we must share, is part of the package.
  noExternal: [/.*/],
  external: ['@opentelemetry/api'],
}

/**
 * Test integrations share the SDK with the agent that is tested, and the runner with the tests. The files that they share
 * among each other have no hash in their names: what an earlier build left must not be published beside them.
 */
const besideTests: UserConfig = {
  ...shared,
  external: ['@opentelemetry/api', 'playhead', 'vitest', '@jest/globals', '@playwright/test'],
  dts: true,
}

/**
 * What is published: the SDK for `import` and `require`, two files that it loads when it needs them, the
 * process of a re-run, and the command.
 */
export default defineConfig([
  { ...shared, entry: { index: 'src/index.ts' }, format: ['esm', 'cjs'], dts: true, shims: true },
  {
    ...shared,
    entry: {
      'price-table': 'src/record/session/price-table.ts',
      'exit-sender': 'src/deliver/exit-sender.ts',
    },
    format: ['cjs'],
    dts: false,
  },
  {
    ...besideTests,
    entry: {
      testing: 'src/testing.ts',
      vitest: 'src/vitest.ts',
      jest: 'src/jest.ts',
      'node-test': 'src/node-test.ts',
      playwright: 'src/playwright.ts',
      reporter: 'src/reporter.ts',
    },
    format: ['esm'],
    outputOptions: { chunkFileNames: 'kit-[name].mjs' },
  },
  {
    ...besideTests,
    entry: {
      testing: 'src/testing.ts',
      jest: 'src/jest.ts',
      'node-test': 'src/node-test.ts',
      playwright: 'src/playwright.ts',
    },
    format: ['cjs'],
    outputOptions: { chunkFileNames: 'kit-[name].cjs' },
  },
  {
    ...besideTests,
    entry: { 'rerun-child': 'src/rerun/child.ts', 'rerun-preload': 'src/rerun/preload.ts' },
    format: ['esm'],
    dts: false,
    outputOptions: { chunkFileNames: 'rerun-[name].mjs' },
  },
  {
    ...shared,
    entry: { cli: 'src/cli/main.ts' },
    format: ['esm'],
    dts: false,
    outputOptions: { chunkFileNames: 'cli-[name].mjs' },
  },
])
