import { existsSync, readFileSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { extname, join, normalize, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Site } from '../access/addresses.ts'
import { KnownError } from '../errors/known-error.ts'

/** The built pages: beside the server in an installation, in the dashboard's package in a checkout. */
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

/** The dashboard shows untrusted content, none of which may run. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/** Serves the files of the dashboard, and its one HTML page for every other path. */
export function addPageRoutes(app: OpenAPIHono, site: Site): void {
  app.all('/api/*', () => {
    throw new KnownError('NOT_FOUND', 'There is no such route. /api/openapi.json lists all routes.')
  })
  app.get('*', async (context) => {
    const folder = folders.find((path) => existsSync(join(path, 'index.html')))
    context.header('content-security-policy', POLICY)
    context.header('x-content-type-options', 'nosniff')
    context.header('referrer-policy', 'no-referrer')
    if (folder === undefined) return context.html(notBuiltPage(site))
    const file = safePath(folder, context.req.path)
    const isAsset = file !== undefined && extname(file) !== '' && existsSync(file)
    const path = isAsset ? file : join(folder, 'index.html')
    if (!isAsset && extname(context.req.path) !== '')
      throw new KnownError('NOT_FOUND', `There is no ${context.req.path}.`)
    context.header('content-type', contentTypes[extname(path)] ?? 'application/octet-stream')
    // The names of assets contain a hash of their content.
    context.header('cache-control', isAsset ? 'public, max-age=31536000, immutable' : 'no-cache')
    const preloads = isAsset ? undefined : pagePreloads(folder, new URL(context.req.url))
    if (preloads !== undefined) context.header('link', preloads)
    return context.body(await readOnce(path))
  })
}

/** Anyone may ask for these files, and never read the answer: all answers share one copy. */
const contents = new Map<string, { modifiedAtMs: number; bytes: Uint8Array<ArrayBuffer> }>()

async function readOnce(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const { mtimeMs } = await stat(path)
  const known = contents.get(path)
  if (known?.modifiedAtMs === mtimeMs) return known.bytes
  const bytes = new Uint8Array(await readFile(path))
  contents.set(path, { modifiedAtMs: mtimeMs, bytes })
  return bytes
}

function notBuiltPage({ port }: Site): string {
  return `<!doctype html><meta charset="utf-8"><title>Playhead</title><meta name="color-scheme" content="light dark">
<body style="font: 15px/1.6 system-ui; max-width: 42rem; margin: 10vh auto; padding: 0 1rem">
<h1>Playhead is running</h1>
<p>The dashboard is not built in this checkout. Read sessions in the terminal:</p>
<pre>npm run playhead -- ls
npm run playhead -- show &lt;session&gt;</pre>
<p>and at <a href="/api/sessions">/api/sessions</a>; <a href="/api/openapi.json">/api/openapi.json</a> lists the rest.
The server receives OpenTelemetry on port ${port}.</p>`
}

/** The file that a URL path names inside a folder; undefined if the path leads out of it. */
export function safePath(folder: string, path: string): string | undefined {
  const file = normalize(join(folder, decodeURIComponent(path)))
  // With the separator, because `dist-other` starts with `dist` too.
  return file === folder || file.startsWith(`${folder}${sep}`) ? file : undefined
}

/** The files that each page needs besides those of index.html, by page name. */
type PageFiles = Record<string, string[]>

/** The `Link` header of a page: lets the browser load the page's files and its session while it still parses the scripts. */
export function pagePreloads(folder: string, { pathname, searchParams }: URL): string | undefined {
  const sessionId = /^\/sessions\/([\w-]+)$/.exec(pathname)?.[1]
  const page = sessionId === undefined ? `${pathname.split('/')[1] || 'sessions'}-page` : 'replay-page'
  const links = (readPageFiles(folder)[page] ?? []).map((file) =>
    file.endsWith('.css')
      ? `</${file}>; rel=preload; as=style; crossorigin`
      : `</${file}>; rel=modulepreload`,
  )
  if (sessionId !== undefined) {
    const project = searchParams.get('project')
    // The address that the page itself asks, or the session would be read twice.
    const query = `?long=skeleton${project === null ? '' : `&project=${encodeURIComponent(project)}`}`
    links.push(`</api/sessions/${sessionId}${query}>; rel=preload; as=fetch; crossorigin`)
  }
  return links.length === 0 ? undefined : links.join(', ')
}

/** Not cached, like index.html: a new build has other file names. */
function readPageFiles(folder: string): PageFiles {
  const path = join(folder, 'page-files.json')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as PageFiles) : {}
}
