import { visibleText } from '@playhead/model'

/** Recorded text on one line, with control characters escaped. */
export function plainLine(text: string): string {
  return visibleText(text.replaceAll(/\s+/g, ' ').trim())
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** East Asian wide and fullwidth characters in common use. */
const wide =
  /^[\u1100-\u115F\u2E80-\u303E\u3041-\u33FF\u3400-\u4DBF\u4E00-\u9FFF\uA000-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{17000}-\u{18AFF}\u{1B000}-\u{1B2FF}\u{20000}-\u{3FFFD}]/u
const emoji = /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F)/u
const zeroWidth = /^[\p{Mark}\p{Default_Ignorable_Code_Point}]+$/u

/** The number of terminal columns a text occupies. */
export function textWidth(text: string): number {
  if (isAscii(text)) return text.length
  let width = 0
  for (const { segment } of segmenter.segment(text)) width += graphemeWidth(segment)
  return width
}

/** Truncates a text to `width` columns; `…` marks the cut. */
export function cutToWidth(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  let [kept, used] = ['', 0]
  for (const { segment } of segmenter.segment(text)) {
    used += graphemeWidth(segment)
    if (used > width - 1) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

function graphemeWidth(grapheme: string): number {
  if (zeroWidth.test(grapheme)) return 0
  return wide.test(grapheme) || emoji.test(grapheme) ? 2 : 1
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7E]*$/.test(text)
}

/** What JSON leaves unescaped: C1 controls and bidirectional marks, and `##[` and the like, which build services obey. */
const unsafe =
  /[\u007F-\u009F\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069\uFEFF]|(?<=#)#(?=[\w.-]*\[)/g

/** Escapes JSON text so that it is safe to print in a terminal or a log, and parses to the same value. */
export function escapeJson(json: string): string {
  return json.replaceAll(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export function printableJson(value: unknown, indent?: number): string {
  return escapeJson(JSON.stringify(value, undefined, indent) ?? 'null')
}
