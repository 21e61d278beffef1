/** Controls, and the marks that reorder or break a line without being seen. */
const unseen = /[\p{Cc}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Shows control characters as text, so that nothing recorded can move the cursor or colour the terminal. */
export function visibleText(text: string): string {
  return text.toWellFormed().replaceAll(unseen, (character) => {
    const code = character.codePointAt(0)!.toString(16)
    return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`
  })
}

/** The same for text of several lines, which stay lines. */
export function visibleLines(text: string): string[] {
  return text.split(/\r\n|\n|\r/).map((line) => visibleText(line.replaceAll('\t', '  ')))
}

/** One line of at most `width` characters; what is cut is marked by `…`. */
export function oneLine(text: string, width: number): string {
  // Whatever the text's size, only its beginning is looked at.
  const beginning = text.slice(0, width * 4 + 100)
  const line = visibleText(beginning.replaceAll(/\s+/g, ' ').trim())
  const isCut = beginning.length < text.length
  if (line.length <= width && !isCut) return line
  const characters = Array.from(line)
  if (characters.length <= width && !isCut) return line
  return `${characters.slice(0, Math.max(1, width - 1)).join('')}…`
}

/** Any recorded value on one line: texts in quotes, the rest as JSON. */
export function describeValue(value: unknown, width: number): string {
  if (typeof value === 'string') return quote(value, width)
  const printer = { text: '', limit: width * 4 }
  print(value, printer, 0)
  return oneLine(printer.text, width)
}

function quote(text: string, width: number): string {
  return `"${oneLine(text.replaceAll('"', String.raw`\"`), Math.max(1, width - 2))}"`
}

const DEPTH_PRINTED = 8

/** Stops at the limit: a value of many megabytes is not written out to show its first line. */
function print(value: unknown, printer: { text: string; limit: number }, depth: number): void {
  if (printer.text.length > printer.limit) return
  if (typeof value === 'string') {
    printer.text += JSON.stringify(value.slice(0, printer.limit + 1))
  } else if (typeof value !== 'object' || value === null) {
    printer.text += String(value)
  } else if (depth >= DEPTH_PRINTED) {
    printer.text += '…'
  } else {
    printAll(value, printer, depth)
  }
}

function printAll(value: object, printer: { text: string; limit: number }, depth: number): void {
  const isList = Array.isArray(value)
  printer.text += isList ? '[' : '{'
  let separator = ''
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue
    if (printer.text.length > printer.limit) return
    printer.text += separator
    if (!isList) printer.text += `${JSON.stringify(key)}:`
    print((value as { [key: string]: unknown })[key], printer, depth + 1)
    separator = ','
  }
  printer.text += isList ? ']' : '}'
}
