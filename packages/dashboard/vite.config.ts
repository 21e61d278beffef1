import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { build, defineConfig, type Plugin } from 'vite'

export default defineConfig({
  plugins: [react(), pageFiles(), oneFileToo()],
  resolve: { conditions: ['playhead-source', 'module', 'browser', 'development|production'] },
  build: {
    outDir: 'dist',
    target: 'es2023',
    sourcemap: false,
    chunkSizeWarningLimit: 900,
    // The model has no side effects, so unused parts can be dropped.
    rolldownOptions: {
      // Modules that several pages share go into one file: twenty small requests would take longer.
      output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 2 }] } },
      treeshake: { moduleSideEffects: [{ test: /[\\/]packages[\\/]model[\\/]/, sideEffects: false }] },
    },
  },
  server: { proxy: { '/api': process.env.PLAYHEAD_ENDPOINT ?? 'http://127.0.0.1:4318' } },
})

/** Lists the files that each page needs besides those of index.html, so that the server can send preload links. */
function pageFiles(): Plugin {
  return {
    name: 'playhead-page-files',
    apply: 'build',
    generateBundle(_options, bundle) {
      const pages: Record<string, string[]> = {}
      for (const output of Object.values(bundle)) {
        if (output.type !== 'chunk' || !output.isDynamicEntry) continue
        pages[output.name] = [output.fileName, ...(output.viteMetadata?.importedCss ?? [])]
      }
      this.emitFile({ type: 'asset', fileName: 'page-files.json', source: JSON.stringify(pages) })
    },
  }
}

/** Builds the one-file replay together with the pages. */
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
