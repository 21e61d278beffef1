import { readFile } from 'node:fs/promises'

/** Where the built page is: beside us when we are installed, in the dashboard's own package when we are not. */
const places = ['./one-file.html', '../../../dashboard/dist/one-file.html'].map(
  (path) => new URL(path, import.meta.url),
)

export async function readOneFileTemplate(): Promise<string> {
  for (const place of places) {
    const page = await readFile(place, 'utf8').catch(() => undefined)
    if (page !== undefined) return page
  }
  throw new Error('The page of the report is not built in this checkout. Build it with: npm run build')
}
