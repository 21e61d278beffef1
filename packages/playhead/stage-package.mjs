// Lays out what is published: the built files, and a package.json without what only this repository can use.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installedWith } from '../../scripts/installed-with.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const target = process.argv[2] ?? join(here, 'dist/package')
const built = process.argv[3] ?? join(here, 'dist')

rmSync(target, { recursive: true, force: true })
mkdirSync(join(target, 'dist'), { recursive: true })
for (const file of readdirSync(built).filter((name) => /\.[cm]?(?:js|d\.[cm]?ts)$|\.d\.[cm]ts$/.test(name)))
  cpSync(join(built, file), join(target, 'dist', file))
// The page that reports are made of.
const page = join(here, '../dashboard/dist/one-file.html')
if (!existsSync(page)) throw new Error('The page of the report is not built. Build it with: npm run build')
cpSync(page, join(target, 'dist/one-file.html'))
for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md']) {
  const source = [join(here, file), join(here, '../..', file)].find(existsSync)
  if (source !== undefined) cpSync(source, join(target, file))
}
writeFileSync(join(target, 'THIRD-PARTY-LICENSES.txt'), collectLicenses())
writeFileSync(join(target, 'package.json'), `${JSON.stringify(publishedManifest(), undefined, 2)}\n`)

function publishedManifest() {
  const manifest = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'))
  const { access, ...published } = manifest.publishConfig
  for (const field of ['private', 'scripts', 'devDependencies', 'size-limit', 'publishConfig'])
    delete manifest[field]
  // Part of the bundle, as everything else that is not listed.
  delete manifest.dependencies['@playhead/model']
  if (Object.keys(manifest.dependencies).length === 0) delete manifest.dependencies
  for (const entry of Object.values(manifest.exports)) {
    if (typeof entry !== 'object') continue
    delete entry['playhead-source']
  }
  return { ...manifest, ...published, publishConfig: { access } }
}

/** The licences of the packages that are part of the bundles, and of the page of the report. */
function collectLicenses() {
  const root = join(here, '../..')
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const bundled = ['node_modules/@opentelemetry/context-async-hooks', 'node_modules/@pydantic/genai-prices']
  const places = [...new Set([...bundled, ...installedWith(['packages/dashboard'], lock)])]
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
