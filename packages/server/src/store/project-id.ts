/** Project ids appear in URLs and file names, and people type them. */
export function isProjectId(id: string): boolean {
  return /^[a-z0-9][a-z0-9_-]{0,62}$/.test(id)
}
