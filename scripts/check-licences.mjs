// Fails if a shipped dependency has a licence that demands more than attribution.
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
  'PSF-2.0',
])

/** Exceptions to the list above, each with its reason. */
const exceptions = new Map()

/** The dashboard's dependencies are bundled into files we ship. */
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
    'Remove the package, or add an exception with a reason to scripts/check-licences.mjs. Accepted licences:',
    [...welcome].join(', '),
  )
else console.log(`${places.length} shipped packages, all with permissive licences.`)
// No packages at all means that we no longer parse the lock file correctly.
process.exitCode = bad.length === 0 && places.length > 0 ? 0 : 1

function nameOf(place) {
  return place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

function licenceOf(place) {
  return lock.packages[place].license ?? 'none'
}

/** `OR` needs one accepted licence; `AND` needs all of them. */
function isWelcome(licence) {
  const choices = licence.replaceAll(/[()]/g, '').split(/\s+OR\s+/)
  return choices.some((choice) => choice.split(/\s+AND\s+/).every((part) => welcome.has(part)))
}
