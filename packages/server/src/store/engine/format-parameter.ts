/** Writes a value as ClickHouse reads the `param_…` of a statement: tab-separated text, and SQL inside of lists. */
export function formatParameter(value: unknown): string {
  if (value === null || value === undefined) return '\\N'
  return typeof value === 'string' ? escape(value) : format(value)
}

function format(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  if (typeof value === 'string') return `'${escape(value)}'`
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map(format).join(',')}]`
  throw new TypeError(`a parameter can't be ${typeof value === 'object' ? 'an object' : typeof value}`)
}

const escapes: Readonly<Record<string, string>> = {
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  "'": "\\'",
  '\\': '\\\\',
}

function escape(text: string): string {
  return /[\t\n\r'\\]/.test(text) ? text.replaceAll(/[\t\n\r'\\]/g, (found) => escapes[found]!) : text
}
