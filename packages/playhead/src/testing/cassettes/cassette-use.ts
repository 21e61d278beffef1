import { appendFileSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isRecord, parseJson } from '@playhead/model'

const SUFFIX = '.cassettes'

/** What a run did not ask its cassette for: the numbers of its entries, from 1. */
type CassetteUse = { path: string; unused: number[] }

/** Notes it in the folder of the test run, for `playhead cassette lint`; does nothing without write access. */
export function noteUse(use: CassetteUse): void {
  const folder = process.env.PLAYHEAD_RUN_DIR
  if (folder === undefined) return
  try {
    appendFileSync(join(folder, `${process.pid}${SUFFIX}`), `${JSON.stringify(use)}\n`)
  } catch {
    // Nothing depends on it but a hint.
  }
}

/** The last use of each cassette, by its absolute path. An entry that one of several tests of a run used is used. */
export function lastUses(base: string): Map<string, CassetteUse> {
  const uses = new Map<string, CassetteUse>()
  for (const folder of newestFirst(base)) {
    const ofRun = new Map<string, CassetteUse>()
    for (const use of readUses(folder)) {
      const before = ofRun.get(use.path)?.unused
      const unused =
        before === undefined ? use.unused : use.unused.filter((number) => before.includes(number))
      ofRun.set(use.path, { path: use.path, unused })
    }
    for (const [path, use] of ofRun) if (!uses.has(path)) uses.set(path, use)
  }
  return uses
}

function newestFirst(base: string): string[] {
  try {
    return readdirSync(base, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => ({ path: join(base, name), at: statSync(join(base, name)).mtimeMs }))
      .toSorted((left, right) => right.at - left.at)
      .map(({ path }) => path)
  } catch {
    return []
  }
}

function readUses(folder: string): CassetteUse[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(SUFFIX))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .flatMap((line) => {
      const use = parseJson(line)
      return isRecord(use) && typeof use.path === 'string' && Array.isArray(use.unused)
        ? [{ path: resolve(use.path), unused: use.unused.map(Number) }]
        : []
    })
}
