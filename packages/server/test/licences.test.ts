import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Licences that ask for no more than to be named. */
const welcome = new Set([
  'Apache-2.0',
  'MIT',
  'MIT-0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'CC0-1.0',
  'Unlicense',
  'BlueOak-1.0.0',
  'Python-2.0',
])

type Entry = {
  resolved?: string
  link?: boolean
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}
type Lock = { packages: Record<string, Entry> }
type Manifest = { license?: string | { type?: string }; licenses?: { type: string }[] }

function isWelcome(licence: string): boolean {
  const choices = licence.replaceAll(/[()]/g, '').split(/\s+OR\s+/)
  return choices.some((choice) => choice.split(/\s+AND\s+/).every((part) => welcome.has(part)))
}

function licenceOf({ license, licenses }: Manifest): string {
  if (typeof license === 'string') return license
  return license?.type ?? licenses?.map(({ type }) => type).join(' OR ') ?? 'none'
}

/** Where each package lies that is installed with one of these, as Node would find it. */
function installedWith(workspaces: readonly string[], { packages }: Lock): Set<string> {
  const found = new Set<string>()
  const visit = (path: string) => {
    const { dependencies, optionalDependencies } = packages[path] ?? {}
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const place = findPlace(path, name, packages)
      if (place === undefined || found.has(place)) continue
      found.add(place)
      visit(packages[place]?.link === true ? packages[place].resolved! : place)
    }
  }
  workspaces.forEach(visit)
  return found
}

function findPlace(from: string, name: string, packages: Lock['packages']): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (packages[place] !== undefined) return place
    if (folder === '') return undefined
  }
}

test('everything that users install with Playhead may be used, changed and passed on by anyone', () => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock
  const found = [...installedWith(['packages/playhead', 'packages/server'], lock)].flatMap((path) => {
    const manifest = join(root, path, 'package.json')
    // Builds for other platforms are in the lock file, not on this machine.
    if (!existsSync(manifest)) return []
    return [[path, licenceOf(JSON.parse(readFileSync(manifest, 'utf8')) as Manifest)] as const]
  })
  expect(found.length).toBeGreaterThan(20)
  expect(found.map(([path]) => path)).toEqual(
    expect.arrayContaining(['node_modules/chdb', 'node_modules/hono']),
  )
  expect(found.filter(([, licence]) => !isWelcome(licence))).toEqual([])
})

test('a licence that asks for more is noticed', () => {
  const asking = ['GPL-3.0', 'AGPL-3.0-only', 'SSPL-1.0', 'none', 'MIT AND GPL-2.0', 'UNLICENSED']
  expect(asking.filter(isWelcome)).toEqual([])
  expect(['MIT', '(MIT OR GPL-2.0)', 'MIT AND ISC'].every(isWelcome)).toBe(true)
})
