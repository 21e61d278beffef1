// Completes what is published. The server and the example agent of the demo are built there already (tsdown.config.ts); to them
// come the SQL, the dashboard, and a package.json without what only this repository can use.
import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { collectLicences } from '../../scripts/collect-licences.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const target = join(here, 'dist-package')
const pages = join(here, '../dashboard/dist')
if (!existsSync(join(pages, 'index.html')))
  throw new Error('The dashboard is not built. Build it with: npm run build')

for (const file of globSync('**/*.sql', { cwd: join(here, 'src') }))
  cpSync(join(here, 'src', file), join(target, 'dist', file))
cpSync(pages, join(target, 'dist/dashboard'), { recursive: true })
for (const file of ['LICENSE', 'CHANGELOG.md']) cpSync(join(here, '../..', file), join(target, file))
cpSync(join(here, 'README.md'), join(target, 'README.md'))
writeFileSync(
  join(target, 'THIRD-PARTY-LICENSES.txt'),
  collectLicences({
    packages: ['@opentelemetry/api', '@opentelemetry/context-async-hooks', 'openai'],
    workspaces: ['packages/dashboard'],
  }),
)
writeFileSync(join(target, 'package.json'), `${JSON.stringify(publishedManifest(), undefined, 2)}\n`)

function publishedManifest() {
  const manifest = readManifest('.')
  const model = readManifest('../model')
  for (const field of ['private', 'scripts', 'devDependencies']) delete manifest[field]
  // Part of what is built; what it needs is ours to install.
  const { '@playhead/model': _, ...dependencies } = { ...manifest.dependencies, ...model.dependencies }
  return {
    ...manifest,
    bin: { 'playhead-server': './dist/main.js' },
    exports: { '.': './dist/index.js' },
    files: ['dist', 'THIRD-PARTY-LICENSES.txt'],
    dependencies,
    publishConfig: { access: 'public' },
  }
}

function readManifest(folder) {
  return JSON.parse(readFileSync(join(here, folder, 'package.json'), 'utf8'))
}
