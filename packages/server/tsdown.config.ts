import { defineConfig, type UserConfig } from 'tsdown'

const shared: UserConfig = {
  format: ['esm'],
  platform: 'node',
  target: 'node22.15',
  tsconfig: '../../tsconfig.build.json',
  dts: false,
  outExtensions: () => ({ js: '.js' }),
  inputOptions: { resolve: { conditionNames: ['playhead-source', 'node', 'import', 'default'] } },
}

/** What is published: one file for each of ours, so that what lies beside a file in the sources does so here too. */
export default defineConfig([
  {
    ...shared,
    entry: [
      'src/main.ts',
      'src/index.ts',
      'src/store/engine/engine-main.ts',
      'src/ingest/thread/thread-main.ts',
    ],
    outDir: 'dist-package/dist',
    root: 'src',
    unbundle: true,
    // Not the prices: they would come to lie in a folder named node_modules, and npm leaves those out of what it packs.
    deps: { alwaysBundle: [/^@playhead\//], neverBundle: ['@pydantic/genai-prices'] },
  },
  {
    ...shared,
    entry: { 'record-demo': '../../examples/support-agent/src/record-demo.ts' },
    outDir: 'dist-package/dist/demo-agent',
    deps: { alwaysBundle: [/.*/], onlyBundle: false },
    clean: false,
  },
])
