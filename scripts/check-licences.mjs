// Says which packages that users get with Playhead, installed or as part of its pages, ask for more than to be named.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installedWith } from './installed-with.mjs'

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

/** Packages that may stay although their licence is not among those, with the reason. */
const exceptions = new Map()

/** The dashboard's are part of the files that are shipped. */
const shipped = ['packages/playhead', 'packages/server', 'packages/dashboard']

const root = process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url))
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
const places = installedWith(shipped, lock)
const bad = places.filter((place) => !exceptions.has(nameOf(place)) && !isWelcome(licenceOf(place)))

for (const place of bad)
  console.log(
    `${nameOf(place)} ${lock.packages[place].version} (${place}) has the licence "${licenceOf(place)}".`,
  )
if (bad.length > 0)
  console.log(
    'Do without it, or say in scripts/check-licences.mjs why it may stay. Welcome are:',
    [...welcome].join(', '),
  )
else console.log(`${places.length} packages are shipped; all may be used, changed and passed on.`)
// None at all means that the lock file is no longer read rightly.
process.exitCode = bad.length === 0 && places.length > 0 ? 0 : 1

function nameOf(place) {
  return place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

function licenceOf(place) {
  return lock.packages[place].license ?? 'none'
}

/** Of several to choose from one is enough; of several that hold together all are needed. */
function isWelcome(licence) {
  const choices = licence.replaceAll(/[()]/g, '').split(/\s+OR\s+/)
  return choices.some((choice) => choice.split(/\s+AND\s+/).every((part) => welcome.has(part)))
}
