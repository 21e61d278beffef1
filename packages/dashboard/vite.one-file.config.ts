import { createHash } from 'node:crypto'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const ENTRY = 'index-one-file.html'
const RESULT = 'one-file.html'

/** Builds the replay page as one HTML file that opens from disk, without a server or network. */
export default defineConfig({
  plugins: [react(), inlineEverything()],
  publicDir: false,
  resolve: { conditions: ['playhead-source', 'module', 'browser', 'development|production'] },
  build: {
    outDir: 'dist',
    emptyOutDir: false,
    target: 'es2023',
    cssCodeSplit: false,
    assetsInlineLimit: 1_000_000,
    modulePreload: false,
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      input: ENTRY,
      output: { codeSplitting: false },
      // The model has no side effects, so unused parts can be dropped.
      treeshake: { moduleSideEffects: [{ test: /[\\/]packages[\\/]model[\\/]/, sideEffects: false }] },
    },
  },
})

/** Inlines script and style, with a content security policy that allows only this script. */
function inlineEverything(): Plugin {
  return {
    name: 'playhead-one-file',
    enforce: 'post',
    generateBundle: {
      // After Vite has resolved the dynamic imports.
      order: 'post',
      handler(_options, bundle) {
        let script = ''
        let style = ''
        let page: string | undefined
        for (const [name, output] of Object.entries(bundle)) {
          if (output.type === 'chunk') script += output.code
          else if (name.endsWith('.css')) style += String(output.source)
          else if (name.endsWith('.html')) page = String(output.source)
          delete bundle[name]
        }
        if (page === undefined) throw new Error(`${ENTRY} is not in the bundle`)
        this.emitFile({ type: 'asset', fileName: RESULT, source: assemble(page, script, style) })
      },
    },
  }
}

function assemble(page: string, rawScript: string, style: string): string {
  // Neither may close the script tag or start a comment in it.
  const script = rawScript.replaceAll('</script', String.raw`<\/script`).replaceAll('<!--', String.raw`<\!--`)
  const hash = createHash('sha256').update(script).digest('base64')
  const policy = `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'`
  const head = `<meta http-equiv="content-security-policy" content="${policy}" />\n<style>${style.replaceAll('</style', String.raw`<\/style`)}</style>`
  return page
    .replaceAll(/\s*<script type="module"[^>]*><\/script>/g, '')
    .replaceAll(/\s*<link rel="(?:stylesheet|modulepreload|icon)"[^>]*>/g, '')
    .replace('<meta charset="utf-8" />', () => `<meta charset="utf-8" />\n${head}`)
    .replace('</body>', () => `<script type="module">${script}</script>\n</body>`)
}
