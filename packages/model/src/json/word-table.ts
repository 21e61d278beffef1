/** Maps every word to the key that lists it: `{ llm: 'chat completion' }` maps `chat` and `completion` to `llm`. */
export function mapWords<Key extends string>(table: { [Name in Key]?: string }): ReadonlyMap<string, Key> {
  const keys = new Map<string, Key>()
  for (const key of Object.keys(table) as Key[]) for (const word of wordsIn(table[key]!)) keys.set(word, key)
  return keys
}

/** The words of a text that lists them, separated by white space. */
export function wordsIn(text: string): string[] {
  return text.trim().split(/\s+/)
}
