import { defineConfig, type UserConfig } from 'tsdown'

const shared: UserConfig = {
  outDir: 'dist',
  platform: 'node',
  target: 'node22.15',
  tsconfig: '../../tsconfig.build.json',
  clean: false,
  // Everything but OpenTelemetry's API, which the program and we must share, is part of the package.
  noExternal: [/.*/],
  external: ['@opentelemetry/api'],
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
  { ...shared, entry: { cli: 'src/cli/main.ts' }, format: ['esm'], dts: false },
])
