import { createHash } from 'node:crypto'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const ENTRY = 'index-one-file.html'
const RESULT = 'one-file.html'

/** The replay page as one HTML file: opened from disk, it needs no server and reaches no network. */
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
      // The model is pure: what nobody uses of it is left out.
      treeshake: { moduleSideEffects: [{ test: /[\\/]packages[\\/]model[\\/]/, sideEffects: false }] },
    },
  },
})

/** Puts script and style into the page, with a policy that lets this very script run and nothing else. */
function inlineEverything(): Plugin {
  return {
    name: 'playhead-one-file',
    enforce: 'post',
    generateBundle(_options, bundle) {
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
  }
}

function assemble(page: string, rawScript: string, style: string): string {
  // Neither may end the tag that the script is in, or begin a comment inside it.
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
