import { expect, test } from 'vitest'
import { cutToWidth, textWidth } from './printable-text.ts'
import { renderTable, type Column } from './table.ts'

const plain = { paint: (_style: unknown, text: string) => text }

type Row = { name: string; note: string; count: number }

const columns: Column<Row>[] = [
  { title: 'Name', text: ({ name }) => name, minWidth: 4 },
  { title: 'Note', text: ({ note }) => note, minWidth: 6, dropOrder: 1 },
  { title: 'Count', text: ({ count }) => String(count), align: 'right' },
]

const rows = [
  { name: 'short', note: 'nothing', count: 1 },
  { name: 'a much longer name', note: 'a note', count: 12_345 },
]

test('columns are as wide as their content', () => {
  expect(renderTable(columns, rows, { width: 80, ...plain })).toBe(`\
Name                Note     Count
short               nothing      1
a much longer name  a note   12345`)
})

test('long texts are truncated to fit', () => {
  expect(renderTable(columns, rows, { width: 24, ...plain })).toBe(`\
Name      Note     Count
short     nothing      1
a much…   a note   12345`)
})

test('a column is dropped when truncating is not enough', () => {
  expect(renderTable(columns, rows, { width: 17, ...plain })).toBe(`\
Name        Count
short           1
a much lo…  12345`)
})

test('colors do not count towards the width', () => {
  const coloured: Column<Row>[] = [{ ...columns[0]!, paint: (text) => `<${text}>` }, columns[2]!]

  expect(renderTable(coloured, rows, { width: 14, ...plain })).toBe(`\
Name     Count
<short>        1
<a much…>  12345`)
})

test('textWidth counts terminal columns', () => {
  expect(['abc', '日本語', 'e\u0301', '👩‍👩‍👧', '한글', '✓', 'ﬀ', '🇩🇪', 'a\u200Bb'].map(textWidth)).toEqual([
    3, 6, 1, 2, 4, 1, 1, 2, 2,
  ])
})

test('a wide character is never split', () => {
  expect(cutToWidth('日本語', 6)).toBe('日本語')
  expect(cutToWidth('日本語', 5)).toBe('日本…')
  expect(cutToWidth('日本語', 4)).toBe('日…')
  expect(cutToWidth('word word', 6)).toBe('word…')
})
