import type { Health } from '../harness/api.ts'

/** What becomes of spans: rows, the sessions computed from them, and the words that searches look up. */
const tables = ['steps', 'sessions', 'words'] as const

/** The bytes on disk for each span, and which table has how many of them. */
export function diskPerSpan({ disk }: Health, spans: number): { bytes: number; note: string } {
  const sizes = tables.map((table) => ({
    table,
    bytes: (disk.tables.find(({ name }) => name === table)?.bytes ?? 0) / spans,
  }))
  return {
    bytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0),
    note: sizes.map(({ table, bytes }) => `${bytes.toFixed(0)} of ${table}`).join(', '),
  }
}
