import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

type Manifest = { scripts: Record<string, string | undefined> }

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

test.each(['start', 'test', 'pack'])(
  'npm run %s installs the dependencies of a fresh clone first',
  (name) => {
    const { scripts } = JSON.parse(read('../package.json')) as Manifest
    const [, first] = /^node (scripts\/[\w-]+\.mjs)/.exec(scripts[name] ?? '') ?? []
    const imported = first === 'scripts/setup.mjs' || read(`../${first}`).includes(`import './setup.mjs'`)
    expect(imported).toBe(true)
  },
)
