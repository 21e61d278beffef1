/** Keys, names and short values repeat in every span. A slot holds the text that hashed to it last, so the table is bounded. */
const SLOTS = 4096
const LONGEST_TEXT = 96
const slots: string[] = Array.from({ length: SLOTS }, () => '')

/** The UTF-8 in `bytes[start, end)`, as a string that all spans share. */
export function internText(bytes: Buffer, start: number, end: number): string {
  const length = end - start
  if (length > LONGEST_TEXT) return bytes.toString('utf8', start, end)
  let hash = length
  for (let index = start; index < end; index++) hash = (Math.imul(hash, 31) + bytes[index]!) | 0
  const slot = (hash ^ (hash >>> 12)) & (SLOTS - 1)
  const held = slots[slot]!
  if (isSameText(held, bytes, start, length)) return held
  const text = bytes.toString('utf8', start, end)
  slots[slot] = text
  return text
}

/** Only ASCII ever matches: there one byte is one character. */
function isSameText(text: string, bytes: Buffer, start: number, length: number): boolean {
  if (text.length !== length) return false
  for (let index = 0; index < length; index++) {
    const byte = bytes[start + index]!
    if (byte > 127 || text.charCodeAt(index) !== byte) return false
  }
  return true
}
