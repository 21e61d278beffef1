import { expect, test } from 'vitest'
import { makeSummary } from '../../test/make-summary.ts'
import { fillOneFile, ONE_FILE_MARKER, readOneFileIndex, readOneFileRecording } from './one-file.ts'
import type { Recording } from './recording.ts'

const template = `<body><div id="root"></div>${ONE_FILE_MARKER}<script>go()</script></body>`

function recording(id: string, name: string): Recording {
  return {
    version: 1,
    exportedAt: '2026-11-15T12:00:00.000Z',
    session: makeSummary({ id, name, endState: 'fail', durationMs: 4200 }),
    steps: [],
  }
}

/** As much of a page as is asked of it. */
function documentOf(html: string) {
  return {
    querySelector(selector: string) {
      const id = /="([^"]+)"/.exec(selector)![1]
      const block = new RegExp(`data-playhead-session="${id}">([^<]*)<`).exec(html)
      return block === null ? null : { textContent: block[1]! }
    },
  }
}

test('embedded recordings are read back one by one, unchanged', async () => {
  const given = [recording('a'.repeat(32), 'first'), recording('b'.repeat(32), 'zweite 😀')]
  const html = await fillOneFile(template, given)
  expect(await readOneFileIndex(documentOf(html))).toEqual(given.map(({ session }) => session))
  expect(await readOneFileRecording(documentOf(html), 1)).toEqual(given[1])
  expect(html.startsWith('<body><div id="root"></div><script type="application/octet-stream"')).toBe(true)
  expect(html.endsWith('<script>go()</script></body>')).toBe(true)
})

test('nothing in a recording can close the tag that contains it', async () => {
  const html = await fillOneFile(template, [
    recording('a'.repeat(32), '</script><script>alert(1)</script>$&$1'),
  ])
  expect(html).not.toContain('alert(1)')
  expect(html.match(/<script/g)).toHaveLength(3)
})

test('an empty template has no index, and a file that is no template is rejected', async () => {
  expect(await readOneFileIndex(documentOf(template))).toBeUndefined()
  await expect(fillOneFile('<html></html>', [])).rejects.toThrow('not a template')
})

test('large recordings are encoded in pieces', async () => {
  const large = { ...recording('a'.repeat(32), 'large'), exportedAt: 'x'.repeat(300_000) + Math.PI }
  const html = await fillOneFile(template, [large])
  expect(await readOneFileRecording(documentOf(html), 0)).toEqual(large)
  expect(html.length).toBeLessThan(5_000)
})
