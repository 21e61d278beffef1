import { join, normalize, sep } from 'node:path'

/** The file below a folder that a path of a URL names; undefined when it would lead out of the folder. */
export function safePath(folder: string, path: string): string | undefined {
  const file = normalize(join(folder, decodeURIComponent(path)))
  // With the separator: `dist-of-others` begins like `dist` too.
  return file === folder || file.startsWith(`${folder}${sep}`) ? file : undefined
}
