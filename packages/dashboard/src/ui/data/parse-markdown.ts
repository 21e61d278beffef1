import { parseInline, type Inline } from './parse-inline.ts'

export type Block =
  | { type: 'heading'; level: number; children: Inline[] }
  | { type: 'paragraph'; children: Inline[] }
  | { type: 'code'; language: string; text: string }
  | { type: 'list'; start: number | undefined; items: Block[][] }
  | { type: 'quote'; children: Block[] }
  | { type: 'table'; header: Inline[][]; rows: Inline[][][] }
  | { type: 'rule' }

const DEEPEST = 8

/** The common part of markdown as a tree to draw. HTML is text, images are links, and nothing in it is ever run or loaded. */
export function parseMarkdown(text: string): Block[] {
  return parseBlocks(text.split(/\r\n|\n|\r/), 0)
}

type Reader = { lines: readonly string[]; at: number; depth: number }

function parseBlocks(lines: readonly string[], depth: number): Block[] {
  if (depth > DEEPEST) return [{ type: 'paragraph', children: [{ type: 'text', text: lines.join('\n') }] }]
  const reader: Reader = { lines, at: 0, depth }
  const blocks: Block[] = []
  while (reader.at < lines.length) {
    if (lines[reader.at]!.trim() === '') {
      reader.at += 1
      continue
    }
    blocks.push(readBlock(reader))
  }
  return blocks
}

function readBlock(reader: Reader): Block {
  return (
    readFence(reader) ??
    readHeading(reader) ??
    readRule(reader) ??
    readQuote(reader) ??
    readList(reader) ??
    readTable(reader) ??
    readParagraph(reader)
  )
}

function readFence(reader: Reader): Block | undefined {
  const open = /^( {0,3})(`{3,}|~{3,})\s*([^`]*)$/.exec(reader.lines[reader.at]!)
  if (open === null) return undefined
  const [, indent, ticks, language] = open
  const text: string[] = []
  for (reader.at += 1; reader.at < reader.lines.length; reader.at += 1) {
    const line = reader.lines[reader.at]!
    const trimmed = line.trim()
    if (trimmed.length >= ticks!.length && trimmed === ticks![0]!.repeat(trimmed.length)) {
      reader.at += 1
      break
    }
    text.push(line.startsWith(indent!) ? line.slice(indent!.length) : line)
  }
  return { type: 'code', language: language!.trim().split(/\s/)[0]!, text: text.join('\n') }
}

function readHeading(reader: Reader): Block | undefined {
  const match = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$/.exec(reader.lines[reader.at]!.slice(0, 2000))
  if (match === null) return undefined
  reader.at += 1
  return { type: 'heading', level: match[1]!.length, children: parseInline(match[2] ?? '') }
}

function isRule(line: string): boolean {
  return line.length < 200 && /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/.test(line)
}

function readRule(reader: Reader): Block | undefined {
  if (!isRule(reader.lines[reader.at]!)) return undefined
  reader.at += 1
  return { type: 'rule' }
}

function readQuote(reader: Reader): Block | undefined {
  const inner: string[] = []
  while (reader.at < reader.lines.length) {
    const match = /^ {0,3}> ?(.*)$/.exec(reader.lines[reader.at]!)
    if (match === null) break
    inner.push(match[1]!)
    reader.at += 1
  }
  return inner.length === 0 ? undefined : { type: 'quote', children: parseBlocks(inner, reader.depth + 1) }
}

const bullet = /^( {0,3})([-*+]|\d{1,9}[.)])( {1,4}|\t|$)(.*)$/

function readList(reader: Reader): Block | undefined {
  const first = bullet.exec(reader.lines[reader.at]!)
  if (first === null) return undefined
  const isOrdered = /\d/.test(first[2]!)
  const items: Block[][] = []
  while (reader.at < reader.lines.length) {
    const match = bullet.exec(reader.lines[reader.at]!)
    if (match === null || /\d/.test(match[2]!) !== isOrdered || isRule(reader.lines[reader.at]!)) break
    items.push(readItem(reader, match))
  }
  return { type: 'list', start: isOrdered ? Number.parseInt(first[2]!, 10) : undefined, items }
}

/** An item ends where a line is indented less than its text, unless the line merely goes on with a paragraph. */
function readItem(reader: Reader, match: RegExpExecArray): Block[] {
  const width = match[1]!.length + match[2]!.length + Math.max(1, match[3]!.length)
  const inner = [match[4]!]
  for (reader.at += 1; reader.at < reader.lines.length; reader.at += 1) {
    const line = reader.lines[reader.at]!
    if (line.trim() === '') {
      const next = reader.lines[reader.at + 1]
      if (next === undefined || indentOf(next) < 2 || next.trim() === '') break
      inner.push('')
      continue
    }
    const indent = indentOf(line)
    if (
      indent >= Math.min(width, 2) &&
      (indent >= width || bullet.exec(line.trimStart()) !== null || inner.includes(''))
    )
      inner.push(line.slice(Math.min(width, indent)))
    else if (indent === 0 && startsBlock(line)) break
    else if (indent === 0 && inner.at(-1) === '') break
    else inner.push(line.trimStart())
  }
  return parseBlocks(inner, reader.depth + 1)
}

function indentOf(line: string): number {
  return line.replaceAll('\t', '    ').search(/\S|$/)
}

function startsBlock(line: string): boolean {
  return bullet.test(line) || /^ {0,3}(#{1,6}\s|>|```|~~~)/.test(line) || isRule(line)
}

function readTable(reader: Reader): Block | undefined {
  const head = reader.lines[reader.at]!
  const rule = reader.lines[reader.at + 1]
  if (rule === undefined || !head.includes('|') || !/^[\s|:-]+$/.test(rule) || !/-/.test(rule))
    return undefined
  const header = cellsOf(head)
  if (cellsOf(rule).length !== header.length) return undefined
  const rows: Inline[][][] = []
  for (reader.at += 2; reader.at < reader.lines.length; reader.at += 1) {
    const line = reader.lines[reader.at]!
    if (line.trim() === '' || !line.includes('|')) break
    rows.push(header.map((_, column) => parseInline(cellsOf(line)[column] ?? '')))
  }
  return { type: 'table', header: header.map((cell) => parseInline(cell)), rows }
}

function cellsOf(line: string): string[] {
  const trimmed = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
  return trimmed.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll(String.raw`\|`, '|'))
}

function readParagraph(reader: Reader): Block {
  const lines: string[] = []
  while (reader.at < reader.lines.length) {
    const line = reader.lines[reader.at]!
    if (line.trim() === '' || (lines.length > 0 && startsBlock(line))) break
    lines.push(line.trim())
    reader.at += 1
  }
  return { type: 'paragraph', children: parseInline(lines.join('\n')) }
}
