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

test.each(['start', 'test', 'pack'])(
  'npm run %s gives no TypeScript to the Node of the machine, which may be too old to load it',
  (name) => {
    const { scripts } = JSON.parse(read('../package.json')) as Manifest
    const programs = [...(scripts[name] ?? '').matchAll(/\bnode (scripts\/[\w-]+\.mjs)/g)]
    const imports = programs.flatMap(([, path]) => [...read(`../${path}`).matchAll(/from '(\..+)'/g)])
    expect(imports.map(([, path]) => path).filter((path) => path?.endsWith('.ts'))).toEqual([])
  },
)
