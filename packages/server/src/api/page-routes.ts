import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Services } from '../process/services.ts'
import type { App } from '../access/request-project.ts'
import { KnownError } from '../errors/known-error.ts'
import { pagePreloads } from './page-preloads.ts'
import { safePath } from './safe-path.ts'

/** Where the built pages are: beside the server when it is installed, in the dashboard's own package when it is not. */
const folders = ['../../dist/dashboard', '../../../dashboard/dist'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)

const contentTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
}

/** The dashboard shows what strangers wrote: nothing of it may run. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/** Serves the dashboard: its files by name, its pages by whatever path the browser has. */
export function addPageRoutes(app: App, services: Services): void {
  app.all('/api/*', () => {
    throw new KnownError('NOT_FOUND', 'There is nothing here. /api/openapi.json lists what there is.')
  })
  app.get('*', async (context) => {
    const folder = folders.find((path) => existsSync(join(path, 'index.html')))
    context.header('content-security-policy', POLICY)
    context.header('x-content-type-options', 'nosniff')
    context.header('referrer-policy', 'no-referrer')
    if (folder === undefined) return context.html(notBuiltPage(services))
    const file = safePath(folder, context.req.path)
    const isAsset = file !== undefined && extname(file) !== '' && existsSync(file)
    const path = isAsset ? file : join(folder, 'index.html')
    if (!isAsset && extname(context.req.path) !== '')
      throw new KnownError('NOT_FOUND', `There is no ${context.req.path}.`)
    context.header('content-type', contentTypes[extname(path)] ?? 'application/octet-stream')
    // Assets carry a hash of their content in their name.
    context.header('cache-control', isAsset ? 'public, max-age=31536000, immutable' : 'no-cache')
    const preloads = isAsset ? undefined : pagePreloads(folder, new URL(context.req.url))
    if (preloads !== undefined) context.header('link', preloads)
    return context.body(new Uint8Array(await readFile(path)))
  })
}

function notBuiltPage({ config }: Pick<Services, 'config'>): string {
  return `<!doctype html><meta charset="utf-8"><title>Playhead</title><meta name="color-scheme" content="light dark">
<body style="font: 15px/1.6 system-ui; max-width: 42rem; margin: 10vh auto; padding: 0 1rem">
<h1>Playhead is running</h1>
<p>The dashboard is not built in this checkout. Sessions can be read in the terminal:</p>
<pre>npm run playhead -- ls
npm run playhead -- show &lt;session&gt;</pre>
<p>and at <a href="/api/sessions">/api/sessions</a>; <a href="/api/openapi.json">/api/openapi.json</a> lists the rest.
OpenTelemetry is taken on port ${config.port}.</p>`
}
