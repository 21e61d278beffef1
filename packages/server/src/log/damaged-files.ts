import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DamagedFile } from '../api/schemas/settings.ts'

type Details = Omit<DamagedFile, 'name' | 'foundAt'>

/** The folder of damaged files: each is kept there beside a description, until a person removes both. */
export class DamagedFiles {
  readonly #folder: string
  readonly #report: (line: string) => void
  readonly #files: DamagedFile[]

  private constructor(folder: string, report: (line: string) => void, files: DamagedFile[]) {
    this.#folder = folder
    this.#report = report
    this.#files = files
  }

  static async open(folder: string, report: (line: string) => void): Promise<DamagedFiles> {
    const names = await readdir(folder).catch(() => [])
    const described = names.filter((name) => name.endsWith('.json')).sort()
    return new DamagedFiles(
      folder,
      report,
      await Promise.all(described.map((name) => describe(folder, name))),
    )
  }

  list(): readonly DamagedFile[] {
    return this.#files
  }

  /** Keeps a damaged file or folder: `keep` puts it at the path it is given. */
  async add(file: string, keep: (path: string) => Promise<void>, details: Details): Promise<void> {
    await mkdir(this.#folder, { recursive: true })
    const name = unusedName(file, await readdir(this.#folder))
    const path = join(this.#folder, name)
    await keep(path)
    const damaged: DamagedFile = { name, ...details, foundAt: new Date().toISOString() }
    await writeFile(`${path}.json`, `${JSON.stringify(damaged, undefined, 2)}\n`, { flush: true })
    this.#files.push(damaged)
    this.#report(`${details.problem} The damaged file is kept: ${path}`)
  }
}

async function describe(folder: string, name: string): Promise<DamagedFile> {
  const file = name.replace(/\.json$/, '')
  try {
    return { ...(JSON.parse(await readFile(join(folder, name), 'utf8')) as DamagedFile), name: file }
  } catch {
    const problem = `The description of this file, ${name}, can't be read.`
    return { name: file, problem, foundAt: new Date(0).toISOString(), blocks: null, rows: null }
  }
}

/** The same segment may be found damaged twice. */
function unusedName(name: string, taken: readonly string[]): string {
  let unused = name
  for (let count = 2; taken.includes(unused) || taken.includes(`${unused}.json`); count++)
    unused = `${name}-${count}`
  return unused
}
