import { Buffer } from 'node:buffer'

/** Shorter texts are left whole: ids, names, roles. */
const MIN_CUT_BYTES = 64
const MARK_BYTES = 40

/** A text within a number of bytes; what was cut is said at its end. */
export function cutText(text: string, maxBytes: number): { text: string; isCut: boolean } {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return { text, isCut: false }
  return { text: cutToBytes(text, Math.max(0, maxBytes - MARK_BYTES)), isCut: true }
}

/**
 * JSON within a number of bytes that still is JSON: the longest texts in it are cut, all to the same length, and when
 * that is not enough, items in the middle of the list are left out.
 */
export function fitJson(value: unknown[], maxBytes: number): { json: string; isCut: boolean } {
  const json = JSON.stringify(value)
  if (json.length * 3 <= maxBytes) return { json, isCut: false }
  const bytes = Buffer.byteLength(json)
  if (bytes <= maxBytes) return { json, isCut: false }
  const lengths: number[] = []
  collectBytes(value, lengths)
  for (let budget = maxBytes; budget > maxBytes / 16; budget /= 2) {
    const limit = limitOf(lengths, bytes - budget)
    if (limit === undefined) break
    const shorter = JSON.stringify(cutTexts(value, limit))
    if (Buffer.byteLength(shorter) <= maxBytes) return { json: shorter, isCut: true }
  }
  return { json: leaveOutMiddle(cutTexts(value, MIN_CUT_BYTES) as unknown[], maxBytes), isCut: true }
}

/** The length to which the longest texts have to be cut to save so many bytes; undefined when that can't be done. */
function limitOf(lengths: number[], saving: number): number | undefined {
  const sorted = lengths.sort((left, right) => right - left)
  let saved = 0
  for (let index = 0; index < sorted.length; index++) {
    const next = Math.max(sorted[index + 1] ?? MIN_CUT_BYTES, MIN_CUT_BYTES)
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
    if (bytes > MIN_CUT_BYTES) lengths.push(bytes)
  } else if (typeof value === 'object' && value !== null) {
    for (const item of Object.values(value)) collectBytes(item, lengths)
  }
}

function cutTexts(value: unknown, maxBytes: number): unknown {
  if (typeof value === 'string') return cutToBytes(value, maxBytes)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => cutTexts(item, maxBytes))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutTexts(item, maxBytes)]))
}

/** Cuts what is longer, as if its characters were all of the same size, and says what was cut. */
function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxBytes) return text
  let end = Math.floor((text.length * maxBytes) / bytes)
  while (end > 0 && Buffer.byteLength(text.slice(0, end)) > maxBytes) end = Math.floor(end * 0.9)
  // Half of a pair of code units is no character.
  const last = text.charCodeAt(end - 1)
  if (last >= 0xd8_00 && last <= 0xdb_ff) end -= 1
  return `${text.slice(0, end)}… [${end} of ${text.length} characters]`
}

/** Keeps the beginning, and of the rest as much of the end as there is room for. */
function leaveOutMiddle(list: unknown[], maxBytes: number): string {
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
