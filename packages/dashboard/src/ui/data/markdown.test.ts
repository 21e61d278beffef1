import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { Markdown } from './markdown.tsx'

function render(text: string): string {
  const html = renderToStaticMarkup(createElement(Markdown, { text }))
  return html.slice('<div class="markdown">'.length, -'</div>'.length)
}

const inParagraph = (text: string) => `<p>${text}</p>`
const link = (href: string, text: string) =>
  `<a href="${href}" title="${href}" target="_blank" rel="noopener noreferrer nofollow">${text}</a>`

test('headings, emphasis, code and line breaks are rendered', () => {
  expect(render('# Title\n\nSome **bold**, *soft* and ~~struck~~ `code`.\nnext line')).toBe(
    '<p class="markdown-heading markdown-heading-1">Title</p>' +
      '<p>Some <strong>bold</strong>, <em>soft</em> and <s>struck</s> <code>code</code>.<br/>next line</p>',
  )
})

test('lists nest, and code inside an item stays code', () => {
  expect(render('3. one\n   - inner\n4. two\n\n   ```js\n   let a\n   ```')).toBe(
    '<ol start="3"><li><p>one</p><ul><li><p>inner</p></li></ul></li>' +
      '<li><p>two</p><pre data-language="js">let a</pre></li></ol>',
  )
})

test('tables and quotes are rendered', () => {
  expect(render('| a | b |\n|---|:-:|\n| 1 | x \\| y |\n\n> said')).toBe(
    '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>x | y</td></tr></tbody></table>' +
      '<blockquote><p>said</p></blockquote>',
  )
})

test('a fence that never closes takes the rest', () => {
  expect(render('```\n<script>\nx')).toBe('<pre>&lt;script&gt;\nx</pre>')
})

test.each([
  '<img src=x onerror=alert(1)>',
  '<script>alert(1)</script>',
  'a <b onclick="x">b</b> <!-- hidden -->',
])('HTML stays text: %s', (text) => {
  expect(render(text)).toBe(inParagraph(escape(text)))
})

test('links to the web and to mail are links, and so are images', () => {
  expect(render('[a](https://example.org/x_(y))')).toBe(inParagraph(link('https://example.org/x_(y)', 'a')))
  expect(render('[m](mailto:a@example.org)')).toBe(inParagraph(link('mailto:a@example.org', 'm')))
  expect(render('see https://example.org/a.')).toBe(
    inParagraph(`see ${link('https://example.org/a', 'https://example.org/a')}.`),
  )
  expect(render('![pixel](https://evil.example/p.png)')).toBe(
    inParagraph(link('https://evil.example/p.png', 'pixel')),
  )
  expect(render('![](https://evil.example/p.png)')).toBe(
    inParagraph(link('https://evil.example/p.png', 'https://evil.example/p.png')),
  )
})

test.each([
  'javascript:alert(1)',
  'JaVaScRiPt:x',
  'java&#115;cript:x',
  'data:text/html,x',
  'vbscript:x',
  'file:///etc/passwd',
  '//evil.example',
  '/relative',
])('an address that could do harm is no link: %s', (address) => {
  for (const text of [`[x](${address})`, `![x](${address})`, `<${address}>`, address])
    expect(render(text)).not.toMatch(/<a |<img|href|src=/)
})

test.each([
  'fetch_customer_data and snake_case',
  '2 * 3 ** 4 `x',
  '[INFO]: ready',
  '[x][y]',
  'a.example.org',
])('what is not Markdown stays as it is: %s', (text) => {
  expect(render(text)).toBe(inParagraph(text))
})

test('an indented prompt is prose, not code', () => {
  expect(render('        You are a helpful agent.')).toBe(inParagraph('You are a helpful agent.'))
})

test('blocks that are nested too deeply are shown as plain text', () => {
  const text = `${'> '.repeat(10_000)}deep`
  expect(render(text)).toBe(`<p class="markdown-plain">${escape(text)}</p>`)
})

const LONGEST_RENDERED = 20_000
const fill = (unit: string) => unit.repeat(LONGEST_RENDERED / unit.length)

test.each([
  ['stars', fill('*a ')],
  ['glued stars', fill('a**')],
  ['mixed marks', fill('*a_')],
  ['tildes and stars', fill('**a~~')],
  ['deeply nested marks', '**a _a '.repeat(2_000) + 'a_ a**'.repeat(1_000)],
  ['brackets', fill('[a')],
  ['nested brackets', '[a'.repeat(5_000) + 'a]'.repeat(5_000)],
  ['closing brackets', fill('*a]')],
  ['links without an end', fill('[a](')],
  ['images without an end', fill('![a>')],
  ['backticks', fill('a ``` ` `` ')],
  ['angle brackets', fill('<a ')],
  ['comments', fill('<!--a')],
  ['a long word before an @', `${fill('a')}@`],
  ['addresses', fill('a@a.')],
  ['quotes', `${fill('> ')}a`],
  ['bullets', fill('- a ')],
  ['nested lists', Array.from({ length: 200 }, (_, depth) => `${' '.repeat(depth)}- a`).join('\n')],
  ['a wide table', '|a'.repeat(3_300) + '|\n' + '|-'.repeat(3_300) + '|\n' + '|a'.repeat(3_300)],
  ['a tall table', '|a|a|\n|-|-|\n' + '|a\n'.repeat(6_000)],
  ['spaces', `${fill(' ')}a`],
])('hostile %s lose no word and do not hang the page', (_name, text) => {
  const beforeMs = processorMs()
  expect(countLetters(textOf(render(text)))).toBe(countLetters(text))
  // The slowest takes a tenth of this.
  expect(processorMs() - beforeMs).toBeLessThan(5_000)
})

/** Of this process: on a busy machine, any time may pass. The types of Node are not those of a page. */
function processorMs(): number {
  const { process } = globalThis as unknown as { process: { cpuUsage: () => { user: number } } }
  return process.cpuUsage().user / 1_000
}

function countLetters(text: string): number {
  return text.replaceAll(/[^a]/g, '').length
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

function textOf(html: string): string {
  return html.replaceAll(/<[^>]*>/g, '').replaceAll(/&[a-z]+;/g, '')
}
