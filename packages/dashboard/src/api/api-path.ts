export type Parameters = Readonly<
  Record<string, string | number | boolean | readonly string[] | null | undefined>
>

/** A path of the API with its parameters; those without a value are left out, lists are repeated. */
export function apiPath(path: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === null) continue
    for (const item of typeof value === 'object' ? value : [value]) query.append(name, String(item))
  }
  const text = query.toString()
  return text === '' ? path : `${path}?${text}`
}

/** The same path for the project that the page's address names, unless it names one itself. */
export function inPageProject(path: string, pageQuery: string): string {
  const project = new URLSearchParams(pageQuery).get('project')
  if (project === null || !path.startsWith('/api/') || /[?&]project=/.test(path)) return path
  return `${path}${path.includes('?') ? '&' : '?'}project=${encodeURIComponent(project)}`
}
