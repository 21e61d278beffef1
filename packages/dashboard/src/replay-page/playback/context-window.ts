/** Context window sizes in tokens, by model name prefix; the longest matching prefix wins. */
const windows: readonly (readonly [prefix: string, tokens: number])[] = [
  ['gpt-3.5', 16_385],
  ['gpt-4', 8_192],
  ['gpt-4-turbo', 128_000],
  ['gpt-4-0125', 128_000],
  ['gpt-4-1106', 128_000],
  ['gpt-4o', 128_000],
  ['gpt-4.1', 1_047_576],
  ['gpt-4.5', 128_000],
  ['gpt-5', 400_000],
  ['o1', 200_000],
  ['o1-mini', 128_000],
  ['o1-preview', 128_000],
  ['o3', 200_000],
  ['o4', 200_000],
  ['claude-2', 100_000],
  ['claude', 200_000],
  ['gemini-1.0', 32_768],
  ['gemini-1.5-pro', 2_097_152],
  ['gemini', 1_048_576],
  ['mistral-large', 131_072],
  ['mistral-small', 131_072],
  ['llama-3.1', 131_072],
  ['llama-3.2', 131_072],
  ['llama-3.3', 131_072],
  ['llama3.1', 131_072],
  ['llama3.2', 131_072],
  ['llama3.3', 131_072],
  ['deepseek', 131_072],
  ['grok-3', 131_072],
  ['grok-4', 256_000],
  ['command-r', 128_000],
]

/** The context window of a model in tokens; undefined when it is unknown. */
export function contextWindowOf(model: string): number | undefined {
  // Routers and clouds prefix the vendor and region: `openai/gpt-4o`, `us.anthropic.claude-…`.
  const name = model
    .toLowerCase()
    .split('/')
    .at(-1)!
    .replace(/^(?:[a-z]+\.)+(?=[a-z])/, '')
  let best: readonly [string, number] | undefined
  for (const entry of windows)
    if (name.startsWith(entry[0]) && (best === undefined || entry[0].length > best[0].length)) best = entry
  return best?.[1]
}
