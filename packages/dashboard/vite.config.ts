import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { build, defineConfig, type Plugin } from 'vite'

export default defineConfig({
  plugins: [react(), oneFileToo()],
  resolve: { conditions: ['playhead-source', 'module', 'browser', 'development|production'] },
  build: {
    outDir: 'dist',
    target: 'es2023',
    sourcemap: false,
    chunkSizeWarningLimit: 900,
    // The model is pure: what nobody uses of it is left out.
    rolldownOptions: {
      treeshake: { moduleSideEffects: [{ test: /[\\/]packages[\\/]model[\\/]/, sideEffects: false }] },
    },
  },
  server: { proxy: { '/api': process.env.PLAYHEAD_ENDPOINT ?? 'http://127.0.0.1:4318' } },
})

/** One command builds both: the pages that the server serves, and the replay that is one file. */
function oneFileToo(): Plugin {
  return {
    name: 'playhead-one-file-too',
    apply: 'build',
    async closeBundle() {
      await build({
        configFile: fileURLToPath(new URL('vite.one-file.config.ts', import.meta.url)),
        root: fileURLToPath(new URL('.', import.meta.url)),
        logLevel: 'error',
      })
    },
  }
}
