/** What JSON leaves as it is and a terminal may act on: controls above ASCII, and marks that reorder a line. */
const unseen = /[\u007F-\u009F\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g

/** JSON with the same meaning that can be shown in a terminal. */
export function escapeJson(json: string): string {
  return json.replaceAll(unseen, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export function printableJson(value: unknown, indent?: number): string {
  return escapeJson(JSON.stringify(value, undefined, indent) ?? 'null')
}
