/** Longer words are no secrets that are known by their beginning and length. */
const MAX_WORD = 256

/** The beginning of a text. The word or number that the cut goes through is left out: half a secret looks like none. */
export function cutAtWord(text: string, length: number): string {
  if (text.length <= length) return text
  const kept = text.slice(0, Math.max(0, length))
  const last = kept.slice(-MAX_WORD)
  const whole = last.replace(/\S+$/, '').replace(/[\d\s-]+$/, '')
  return kept.slice(0, kept.length - last.length + whole.length)
}
