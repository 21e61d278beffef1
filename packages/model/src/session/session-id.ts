/** What people see of a session's id: `s_` and its first eight digits. */
export function shortSessionId(id: string): string {
  return `s_${id.slice(0, 8)}`
}

/** The hex prefix a person typed, with or without `s_`; undefined when it can't be one. */
export function parseSessionIdPrefix(text: string): string | undefined {
  const prefix = text.trim().toLowerCase().replace(/^s_/, '').replaceAll('-', '')
  return /^[0-9a-f]{4,32}$/.test(prefix) ? prefix : undefined
}
