import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Files that each page of the dashboard needs besides those of index.html, by the page's name. */
type PageFiles = Record<string, string[]>

/**
 * The `Link` header of a page: the browser asks for its files, and for the session that it shows, while it still reads
 * the scripts that would ask for them.
 */
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
    const query = project === null ? '' : `?project=${encodeURIComponent(project)}`
    links.push(`</api/sessions/${sessionId}${query}>; rel=preload; as=fetch; crossorigin`)
  }
  return links.length === 0 ? undefined : links.join(', ')
}

/** Read anew each time, like index.html: a build that went on meanwhile has other names. */
function readPageFiles(folder: string): PageFiles {
  const path = join(folder, 'page-files.json')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as PageFiles) : {}
}
