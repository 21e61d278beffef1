import { Buffer } from 'node:buffer'
import { markTruncated } from './serialize-value.ts'

/** Shorter texts, such as ids, names and roles, are never truncated. */
const MIN_TRUNCATED_BYTES = 64
const MARK_BYTES = 40

/** Truncates a text to a number of bytes, and marks it. */
export function truncateText(text: string, maxBytes: number): { text: string; isTruncated: boolean } {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return { text, isTruncated: false }
  return { text: truncateToBytes(text, Math.max(0, maxBytes - MARK_BYTES)), isTruncated: true }
}

/**
 * Writes a list as valid JSON within a number of bytes. It truncates the longest texts, all to the same length, and if
 * that is not enough, leaves out items in the middle of the list.
 */
export function fitJson(value: unknown[], maxBytes: number): { json: string; isTruncated: boolean } {
  const json = JSON.stringify(value)
  if (json.length * 3 <= maxBytes) return { json, isTruncated: false }
  const bytes = Buffer.byteLength(json)
  if (bytes <= maxBytes) return { json, isTruncated: false }
  const lengths: number[] = []
  collectBytes(value, lengths)
  for (let budget = maxBytes; budget > maxBytes / 16; budget /= 2) {
    const limit = limitOf(lengths, bytes - budget)
    if (limit === undefined) break
    const shorter = JSON.stringify(truncateTexts(value, limit))
    if (Buffer.byteLength(shorter) <= maxBytes) return { json: shorter, isTruncated: true }
  }
  return {
    json: omitMiddle(truncateTexts(value, MIN_TRUNCATED_BYTES) as unknown[], maxBytes),
    isTruncated: true,
  }
}

/** The length that the longest texts must be truncated to, to save so many bytes; undefined if that is impossible. */
function limitOf(lengths: number[], saving: number): number | undefined {
  const sorted = lengths.sort((left, right) => right - left)
  let saved = 0
  for (let index = 0; index < sorted.length; index++) {
    const next = Math.max(sorted[index + 1] ?? MIN_TRUNCATED_BYTES, MIN_TRUNCATED_BYTES)
    const count = index + 1
    const possible = saved + (sorted[index]! - next) * count
    const needed = saving + MARK_BYTES * count
    if (possible >= needed) return Math.floor(next + (possible - needed) / count)
    saved = possible
  }
  return undefined
}

function collectBytes(value: unknown, lengths: number[]): void {
  if (typeof value === 'string') {
    const bytes = Buffer.byteLength(value)
    if (bytes > MIN_TRUNCATED_BYTES) lengths.push(bytes)
  } else if (typeof value === 'object' && value !== null) {
    for (const item of Object.values(value)) collectBytes(item, lengths)
  }
}

function truncateTexts(value: unknown, maxBytes: number): unknown {
  if (typeof value === 'string') return truncateToBytes(value, maxBytes)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => truncateTexts(item, maxBytes))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, truncateTexts(item, maxBytes)]))
}

/** Assumes characters of equal size first, then shortens until it fits. */
function truncateToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxBytes) return text
  let end = Math.floor((text.length * maxBytes) / bytes)
  while (end > 0 && Buffer.byteLength(text.slice(0, end)) > maxBytes) end = Math.floor(end * 0.9)
  // Never split a surrogate pair.
  const last = text.charCodeAt(end - 1)
  if (last >= 0xd8_00 && last <= 0xdb_ff) end -= 1
  return markTruncated(text.slice(0, end), text.length)
}

/** Keeps the first item, and as many of the last ones as there is room for. */
function omitMiddle(list: unknown[], maxBytes: number): string {
  const first = JSON.stringify(list[0] ?? null)
  let room = maxBytes - Buffer.byteLength(first) - MARK_BYTES * 4
  const kept: string[] = []
  for (let index = list.length - 1; index > 0; index--) {
    const json = JSON.stringify(list[index])
    room -= Buffer.byteLength(json) + 1
    if (room < 0) break
    kept.unshift(json)
  }
  const left = list.length - 1 - kept.length
  const content = `… [${left} more left out]`
  const note = JSON.stringify({ role: 'system', parts: [{ type: 'text', content }], type: 'text', content })
  const all = `[${[first, ...(left > 0 ? [note] : []), ...kept].join(',')}]`
  return Buffer.byteLength(all) <= maxBytes ? all : '[]'
}
