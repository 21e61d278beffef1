/**
 * A recorded value as text that can be compared line by line: JSON with its keys in one order, messages of a prompt as
 * paragraphs, the answer of a model as what it said and what it called.
 */
export function readableValue(value: unknown): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return value
  if (isTexts(value)) return value.join('\n\n')
  if (isAnswer(value)) {
    const calls = value.calls.map(({ name, arguments: given }) => `${name}(${readableJson(given)})`)
    return [value.text, ...calls].filter((part) => part !== '').join('\n')
  }
  return readableJson(value)
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')
}

function isAnswer(value: unknown): value is { text: string; calls: { name: string; arguments: unknown }[] } {
  return typeof value === 'object' && value !== null && 'calls' in value && 'text' in value
}

function readableJson(value: unknown): string {
  return JSON.stringify(value, withSortedKeys, 2) ?? ''
}

function withSortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}
