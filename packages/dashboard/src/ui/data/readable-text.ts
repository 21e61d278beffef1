/** "1.2 MB": how much text there is. */
export function formatLength(characters: number): string {
  if (characters < 1000) return `${characters} characters`
  if (characters < 1_000_000) return `${Math.round(characters / 1000)} KB`
  return `${(characters / 1_000_000).toFixed(1)} MB`
}

/** Pieces of at most `size` characters, cut at line ends where there are any. */
export function splitText(text: string, size: number): string[] {
  const pieces: string[] = []
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + size)
    if (end < text.length) {
      const lineEnd = text.lastIndexOf('\n', end)
      if (lineEnd > at + size / 2) end = lineEnd + 1
      // Never between the halves of one character.
      else if (/[\uD800-\uDBFF]/.test(text[end - 1]!)) end -= 1
    }
    pieces.push(text.slice(at, end))
    at = end
  }
  return pieces
}
