/** SQL for a time in ISO format; ClickHouse writes `2026-01-02 03:04:05.678` and means UTC. */
export function isoTime(column: string): string {
  return `concat(replaceOne(toString(${column}), ' ', 'T'), 'Z')`
}
