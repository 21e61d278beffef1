/** Query parameters are plain text, so that people can read and type addresses. */
export function parsePlainSearch(query: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(query))
}

export function writePlainSearch(search: Record<string, unknown>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(search)) {
    if (value !== undefined && value !== null && value !== '')
      query.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  const text = query
    .toString()
    // These need no escaping in a query.
    .replaceAll('%3A', ':')
    .replaceAll('%2F', '/')
    .replaceAll('%3E', '>')
    .replaceAll('%2C', ',')
  return text === '' ? '' : `?${text}`
}

/** The named parameters that are present and not empty. */
export function pickTexts<Name extends string>(
  search: Record<string, unknown>,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = search[name]
      return typeof value === 'string' && value !== '' ? [[name, value]] : []
    }),
  ) as Partial<Record<Name, string>>
}

/** Leaves empty parameters out of the address. */
export function withoutEmpty<Search extends object>(search: {
  [Name in keyof Search]?: Search[Name] | undefined
}): Search {
  return Object.fromEntries(
    Object.entries(search).filter(([, value]) => value !== undefined && value !== ''),
  ) as Search
}
