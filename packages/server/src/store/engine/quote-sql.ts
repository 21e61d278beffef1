/** A string literal in ClickHouse's SQL. Only for what can't be a bound parameter: paths, settings, parameters themselves. */
export function quoteSql(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\0', '\\0')}'`
}
