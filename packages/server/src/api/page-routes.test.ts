import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { pagePreloads } from './page-routes.ts'

const folder = mkdtempSync(join(tmpdir(), 'playhead-pages-'))
writeFileSync(
  join(folder, 'page-files.json'),
  JSON.stringify({ 'replay-page': ['assets/r.js', 'assets/r.css'], 'sessions-page': ['assets/s.js'] }),
)
afterAll(() => rmSync(folder, { recursive: true }))

const preloads = (path: string) => pagePreloads(folder, new URL(path, 'http://localhost'))
const replayFiles = '</assets/r.js>; rel=modulepreload, </assets/r.css>; rel=preload; as=style; crossorigin'

test('a replay preloads its files and its session, in the project of the page', () => {
  expect(preloads('/sessions/4ff4')).toBe(
    `${replayFiles}, </api/sessions/4ff4?long=skeleton>; rel=preload; as=fetch; crossorigin`,
  )
  expect(preloads('/sessions/4ff4?step=1&project=team%20a')).toBe(
    `${replayFiles}, </api/sessions/4ff4?long=skeleton&project=team%20a>; rel=preload; as=fetch; crossorigin`,
  )
})

test('other pages preload their files; the start page is the list', () => {
  expect(preloads('/sessions?q=x')).toBe('</assets/s.js>; rel=modulepreload')
  expect(preloads('/')).toBe('</assets/s.js>; rel=modulepreload')
  expect(preloads('/nowhere')).toBeUndefined()
})

test.each(['/sessions/a>;rel=x', '/sessions/a%0d%0ax', '/sessions/4ff4?project=%0d%0a>,<', '/constructor'])(
  '%s cannot inject anything into the header',
  (path) => {
    expect(preloads(path) ?? '').not.toMatch(/[\r\n]|rel=x|>,<(?!\/)/)
  },
)

test('a dashboard built without the list of files has no preloads', () => {
  expect(pagePreloads(tmpdir(), new URL('http://localhost/settings'))).toBeUndefined()
})
