import { readFileSync } from 'node:fs'

/** Loads a `.sql` file as a template. `[[name]]` placeholders take fixed text from the code, never user input. */
export function loadSql(file: URL): (values?: Readonly<Record<string, string>>) => string {
  const text = readFileSync(file, 'utf8').replaceAll(/^\s*--.*\n/gm, '')
  return (values = {}) =>
    text.replaceAll(/\[\[(\w+)\]\]/g, (placeholder, name: string) => {
      const value = values[name]
      if (value === undefined) throw new Error(`${file.pathname}: no value for ${placeholder}`)
      return value
    })
}
