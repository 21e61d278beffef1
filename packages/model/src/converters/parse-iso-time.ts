const isoTime = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:?\d\d)?$/

/** Nanoseconds of an ISO time, UTC where it names no zone; Python writes microseconds, which a Date would lose. */
export function parseIsoTimeNs(value: unknown): bigint | null {
  const match = typeof value === 'string' ? isoTime.exec(value) : null
  if (match === null) return null
  const milliseconds = Date.parse(`${match[1]}T${match[2]}${match[4] ?? 'Z'}`)
  if (!Number.isFinite(milliseconds)) return null
  return BigInt(milliseconds) * 1_000_000n + BigInt((match[3] ?? '').padEnd(9, '0').slice(0, 9))
}
