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

/** Test integrations share the SDK with the agent that is tested, and the runner with the tests. */
const besideTests: UserConfig = {
  ...shared,
  external: ['@opentelemetry/api', 'playhead', 'vitest', '@jest/globals', '@playwright/test'],
  dts: true,
}

/** What is published: the SDK for `import` and `require`, two files that it loads when it needs them, and the command. */
export default defineConfig([
  { ...shared, entry: { index: 'src/index.ts' }, format: ['esm', 'cjs'], dts: true, shims: true },
  {
    ...shared,
    entry: { 'price-table': 'src/record/price-table.ts', 'exit-sender': 'src/deliver/exit-sender.ts' },
    format: ['cjs'],
    dts: false,
  },
  { ...besideTests, entry: { testing: 'src/testing.ts' }, format: ['esm', 'cjs'] },
  { ...besideTests, entry: { vitest: 'src/vitest.ts' }, format: ['esm'] },
  { ...besideTests, entry: { jest: 'src/jest.ts' }, format: ['esm', 'cjs'] },
  { ...besideTests, entry: { 'node-test': 'src/node-test.ts' }, format: ['esm', 'cjs'] },
  { ...besideTests, entry: { playwright: 'src/playwright.ts' }, format: ['esm'] },
  { ...besideTests, entry: { reporter: 'src/reporter.ts' }, format: ['esm'] },
  { ...shared, entry: { cli: 'src/cli/main.ts' }, format: ['esm'], dts: false },
])
