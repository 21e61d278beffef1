import { readFileSync } from 'node:fs'

/** A statement from the `.sql` file beside its reader; `[[name]]` marks take fixed text from code, never from a user. */
export function loadSql(file: string): (marks?: Readonly<Record<string, string>>) => string {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8').replaceAll(/^\s*--.*\n/gm, '')
  return (marks = {}) =>
    text.replaceAll(/\[\[(\w+)\]\]/g, (mark, name: string) => {
      const value = marks[name]
      if (value === undefined) throw new Error(`${file} has the mark ${mark}, and nothing was given for it`)
      return value
    })
}
