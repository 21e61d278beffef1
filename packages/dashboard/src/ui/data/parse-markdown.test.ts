import { expect, test } from 'vitest'
import { parseInline, safeAddress } from './parse-inline.ts'
import { parseMarkdown } from './parse-markdown.ts'

test('the common parts of markdown are read', () => {
  expect(parseMarkdown('# Title\n\nSome **bold** and *soft* `code`.\nnext line')).toEqual([
    { type: 'heading', level: 1, children: [{ type: 'text', text: 'Title' }] },
    {
      type: 'paragraph',
      children: [
        { type: 'text', text: 'Some ' },
        { type: 'strong', children: [{ type: 'text', text: 'bold' }] },
        { type: 'text', text: ' and ' },
        { type: 'emphasis', children: [{ type: 'text', text: 'soft' }] },
        { type: 'text', text: ' ' },
        { type: 'code', text: 'code' },
        { type: 'text', text: '.' },
        { type: 'break' },
        { type: 'text', text: 'next line' },
      ],
    },
  ])
})

test('lists nest, and code inside an item stays code', () => {
  const [list] = parseMarkdown('1. one\n   - inner\n2. two\n\n   ```js\n   let a\n   ```')
  expect(list).toEqual({
    type: 'list',
    start: 1,
    items: [
      [
        { type: 'paragraph', children: [{ type: 'text', text: 'one' }] },
        {
          type: 'list',
          start: undefined,
          items: [[{ type: 'paragraph', children: [{ type: 'text', text: 'inner' }] }]],
        },
      ],
      [
        { type: 'paragraph', children: [{ type: 'text', text: 'two' }] },
        { type: 'code', language: 'js', text: 'let a' },
      ],
    ],
  })
})

test('tables and quotes are read', () => {
  const [table, quote] = parseMarkdown('| a | b |\n|---|:-:|\n| 1 | x \\| y |\n\n> said')
  expect(table).toEqual({
    type: 'table',
    header: [[{ type: 'text', text: 'a' }], [{ type: 'text', text: 'b' }]],
    rows: [[[{ type: 'text', text: '1' }], [{ type: 'text', text: 'x | y' }]]],
  })
  expect(quote).toEqual({
    type: 'quote',
    children: [{ type: 'paragraph', children: [{ type: 'text', text: 'said' }] }],
  })
})

test('a fence that never ends takes the rest', () => {
  expect(parseMarkdown('```\n<script>\nx')).toEqual([{ type: 'code', language: '', text: '<script>\nx' }])
})

test('HTML stays text', () => {
  expect(parseMarkdown('<img src=x onerror=alert(1)>')).toEqual([
    { type: 'paragraph', children: [{ type: 'text', text: '<img src=x onerror=alert(1)>' }] },
  ])
})

test('links lead to the web and to mail, nowhere else', () => {
  expect(parseInline('[a](https://example.org/x_(y))')).toEqual([
    { type: 'link', href: 'https://example.org/x_(y)', children: [{ type: 'text', text: 'a' }] },
  ])
  expect(parseInline('![pixel](https://evil.example/p.png)')).toMatchObject([{ type: 'link' }])
  expect(parseInline('see https://example.org/a.')).toEqual([
    { type: 'text', text: 'see ' },
    {
      type: 'link',
      href: 'https://example.org/a',
      children: [{ type: 'text', text: 'https://example.org/a' }],
    },
    { type: 'text', text: '.' },
  ])
  for (const address of ['javascript:alert(1)', ' JaVaScRiPt:x', 'data:text/html,x', '//evil', '/relative'])
    expect(safeAddress(address)).toBeUndefined()
  expect(parseInline('[x](javascript:alert`1`)')).not.toContainEqual(
    expect.objectContaining({ type: 'link' }),
  )
})

test('names with underscores are not emphasis', () => {
  expect(parseInline('fetch_customer_data and snake_case')).toEqual([
    { type: 'text', text: 'fetch_customer_data and snake_case' },
  ])
})

test('marks without a partner stay as they are', () => {
  expect(parseInline('2 * 3 ** 4 `x')).toEqual([{ type: 'text', text: '2 * 3 ** 4 `x' }])
})

test.each([
  ['stars', '*a '.repeat(20_000)],
  ['brackets', '['.repeat(60_000)],
  ['backticks', '`'.repeat(3) + ' ` '.repeat(20_000)],
  ['quotes', '> '.repeat(20_000)],
  ['tildes and stars', '**~~'.repeat(15_000)],
  ['bullets', '- '.repeat(30_000)],
  ['pipes', '|'.repeat(60_000) + '\n' + '|-'.repeat(30_000)],
])('hostile %s are read, and quickly enough for a test', (_name, text) => {
  expect(parseMarkdown(text).length).toBeGreaterThan(0)
})
