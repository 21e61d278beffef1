/** Keys, names and short values repeat in every span. Each slot holds the last text with its hash, so the tables are bounded. */
const SLOTS = 4096
const MAX_INTERNED_LENGTH = 96
/** Longer values than model names, roles and operations rarely repeat. */
const MAX_INTERNED_VALUE_LENGTH = 24

/**
 * A key of attributes, and what came with it last time: where the key after it is, because the spans of one sender have the same keys
 * in the same order, and its value if that was short.
 */
export type KnownKey = { readonly text: string; nextSlot: number; value: string }

const slots: string[] = Array.from({ length: SLOTS }, () => '')
const keySlots: KnownKey[] = Array.from({ length: SLOTS }, () => newKey(''))

/** Decodes the UTF-8 in `bytes[start, end)` to a string that all spans share. */
export function internText(bytes: Buffer, start: number, end: number): string {
  const length = end - start
  if (length > MAX_INTERNED_LENGTH) return bytes.toString('utf8', start, end)
  const slot = slotOf(bytes, start, end)
  const held = slots[slot]!
  if (isSameText(held, bytes, start, length)) return held
  const text = bytes.toString('utf8', start, end)
  slots[slot] = text
  return text
}

/** As `internText`, for a value. */
export function internValue(bytes: Buffer, start: number, end: number): string {
  if (end - start > MAX_INTERNED_VALUE_LENGTH) return bytes.toString('utf8', start, end)
  return internText(bytes, start, end)
}

/** The key in `bytes[start, end)`. Mostly the one that came after the last one before. */
export function keyAfter(last: KnownKey, bytes: Buffer, start: number, end: number): KnownKey {
  const length = end - start
  const guess = keySlots[last.nextSlot]!
  if (isSameText(guess.text, bytes, start, length)) return guess
  if (length > MAX_INTERNED_LENGTH) return newKey(bytes.toString('utf8', start, end))
  const slot = slotOf(bytes, start, end)
  const held = keySlots[slot]!
  last.nextSlot = slot
  if (isSameText(held.text, bytes, start, length)) return held
  const key = newKey(bytes.toString('utf8', start, end))
  keySlots[slot] = key
  return key
}

/** The value of a key in `bytes[start, end)`. A short one is mostly what it was before. */
export function valueOf(key: KnownKey, bytes: Buffer, start: number, end: number): string {
  if (end - start > MAX_INTERNED_VALUE_LENGTH) return bytes.toString('utf8', start, end)
  if (!isSameText(key.value, bytes, start, end - start)) key.value = internText(bytes, start, end)
  return key.value
}

export function newKey(text: string): KnownKey {
  return { text, nextSlot: 0, value: '' }
}

function slotOf(bytes: Buffer, start: number, end: number): number {
  let hash = end - start
  for (let index = start; index < end; index++) hash = (Math.imul(hash, 31) + bytes[index]!) | 0
  return (hash ^ (hash >>> 12)) & (SLOTS - 1)
}

/** Matches only ASCII, where one byte is one character. */
function isSameText(text: string, bytes: Buffer, start: number, length: number): boolean {
  if (text.length !== length) return false
  for (let index = 0; index < length; index++) {
    const byte = bytes[start + index]!
    if (byte > 127 || text.charCodeAt(index) !== byte) return false
  }
  return true
}
