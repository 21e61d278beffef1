/** A project's id is part of addresses, of file names and of what people type. */
export function isProjectId(id: string): boolean {
  return /^[a-z0-9][a-z0-9_-]{0,62}$/.test(id)
}
