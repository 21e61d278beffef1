// Lays out what is published: the built files, and a package.json without what only this repository can use.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { collectLicences } from '../../scripts/collect-licences.mjs'

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
writeFileSync(
  join(target, 'THIRD-PARTY-LICENSES.txt'),
  collectLicences({
    packages: ['@opentelemetry/context-async-hooks', '@pydantic/genai-prices'],
    workspaces: ['packages/dashboard'],
  }),
)
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
