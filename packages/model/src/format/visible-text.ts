import { compactJson } from '../json/compact-json.ts'

/** Control characters, and marks that reorder or break a line without being seen. */
const unseen = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu
const unseenInLines = new RegExp(String.raw`(?![\n\t])${unseen.source}`, 'gu')

const lineBreak = /[ \t]*[\n\r\t][ \t\n\r]*/g

/** Text on one line, with control characters escaped, so that it cannot move the cursor or colour the terminal. */
export function visibleText(text: string): string {
  return text.toWellFormed().replaceAll(lineBreak, ' ').replaceAll(unseen, escapeCharacter)
}

/** As `visibleText`, for text of several lines: line breaks and tabs stay. */
export function visibleLines(text: string): string {
  return text.toWellFormed().replaceAll('\r\n', '\n').replaceAll(unseenInLines, escapeCharacter)
}

/**
 * A line that a build service takes for a command: GitHub's `::error::` after any white space, `##[error]`, Azure's
 * `##vso[…]` and TeamCity's `##teamcity[…]` anywhere in it. Colours may stand before it.
 */
// oxlint-disable-next-line no-control-regex
const commandAtStart = /^((?:[^\S\n]|\u001B\[\d+m)*)::(?=[a-z])/gim
const commandAnywhere = /##(?=[\w.-]*\[)/g

/** Text for a terminal or the log of a build: as `visibleLines`, and no line is a command to the build service. */
export function safeForLog(text: string): string {
  return withoutCommands(visibleLines(text))
}

export function withoutCommands(text: string): string {
  return text.replaceAll(commandAtStart, String.raw`$1\::`).replaceAll(commandAnywhere, String.raw`#\#`)
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0)!.toString(16)
  return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`
}

/** A value as text: texts without quotes, the rest as indented JSON. */
export function textOfValue(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value, bigintAsText, 2) ?? String(value)
  } catch (error) {
    return `[not readable: ${String(error)}]`
  }
}

function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

/** One line of at most `width` characters; `…` marks a cut. */
export function oneLine(text: string, width: number): string {
  // Reads only the beginning, whatever the size of the text.
  const beginning = text.slice(0, width * 4 + 100)
  const line = visibleText(beginning.replaceAll(/\s+/g, ' ').trim())
  const isCut = beginning.length < text.length
  if (line.length <= width && !isCut) return line
  const characters = Array.from(line)
  if (characters.length <= width && !isCut) return line
  return `${characters.slice(0, Math.max(1, width - 1)).join('')}…`
}

/** Any value on one line: texts in quotes, the rest as JSON. */
export function describeValue(value: unknown, width: number): string {
  if (typeof value === 'string') return quote(value, width)
  return oneLine(compactJson(value, width * 4), width)
}

function quote(text: string, width: number): string {
  return `"${oneLine(text.replaceAll('"', String.raw`\"`), Math.max(1, width - 2))}"`
}
