type Reading = { readAtMs: number; spansStored: number; logsStored: number }

/** Rows a second between two readings; undefined until there are two, or when the server began anew between them. */
export function ingestRate(before: Reading | undefined, now: Reading): number | undefined {
  if (before === undefined || now.readAtMs <= before.readAtMs) return undefined
  const rows = now.spansStored + now.logsStored - before.spansStored - before.logsStored
  return rows < 0 ? undefined : rows / ((now.readAtMs - before.readAtMs) / 1_000)
}
