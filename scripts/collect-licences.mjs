// Collects the licences of the packages that we bundle.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installedWith } from './installed-with.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** For these packages and all dependencies of these workspaces. */
export function collectLicences({ packages, workspaces }) {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const named = packages.map((name) => `node_modules/${name}`)
  const places = [...new Set([...named, ...installedWith(workspaces, lock)])]
  return places
    .filter((place) => existsSync(join(root, place)))
    .map((place) => {
      const { version, license } = lock.packages[place]
      const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
      const file = readdirSync(join(root, place)).find((one) => /^licen[cs]e(?:\.md|\.txt)?$/i.test(one))
      const text = file === undefined ? '' : readFileSync(join(root, place, file), 'utf8')
      return `${name} ${version} (${license})\n\n${text}`
    })
    .join(`\n${'-'.repeat(80)}\n\n`)
}
