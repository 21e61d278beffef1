import { execFile } from 'node:child_process'
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))
/** Inside the package, so that "playhead" resolves. */
const folder = fileURLToPath(new URL('../dist/test-decorators', import.meta.url))

/** Node does not support decorators yet, so TypeScript compiles and checks them. */
const program = `import * as playhead from 'playhead'

playhead.init({ endpoint: false, capture: false })

class Tools {
  readonly plan = 'pro'

  @playhead.recordAction('lookup_plan')
  async lookupPlan(id: string): Promise<{ id: string; plan: string }> {
    return { id, plan: this.plan }
  }

  @playhead.recordTool({ name: 'search', effect: 'read' })
  *search(query: string, limit = 2) {
    for (let index = 0; index < limit; index += 1) yield query + index
  }

  @playhead.agent('helper')
  static help<Value>(value: Value): Value[] {
    return [value]
  }

  @playhead.recordAction('private')
  #hidden(value: number) {
    return value * 2
  }

  callHidden() {
    return this.#hidden(21)
  }
}

const session = await playhead.withSession(async (view) => {
  const tools = new Tools()
  const found: { id: string; plan: string } = await tools.lookupPlan('c_1')
  const names: string[] = [...tools.search('q')]
  const list: number[] = Tools.help(1)
  console.log(JSON.stringify([found, names, list, tools.callHidden(), tools.lookupPlan.name]))
  return view
})
console.log(JSON.stringify(session.steps.map(({ kind, name, input, output }) => [kind, name, input, output])))
`

beforeAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'program.mts'), program)
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions: {
        target: 'es2022',
        lib: ['es2024', 'esnext.decorators', 'dom'],
        noEmit: false,
        allowImportingTsExtensions: true,
        rewriteRelativeImportExtensions: true,
        types: ['node'],
        typeRoots: [join(root, 'node_modules/@types')],
        rootDir: root,
        outDir: join(folder, 'out'),
      },
      include: ['program.mts'],
    }),
  )
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('a standard decorator records a method and keeps its type', async () => {
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder]).catch(
    (error: { stdout: string }) => {
      throw new Error(error.stdout)
    },
  )
  // Otherwise "playhead" would resolve to the compiler's copy of package.json.
  const compiled = join(folder, 'program.mjs')
  await copyFile(join(folder, 'out/packages/playhead/dist/test-decorators/program.mjs'), compiled)
  const { stdout } = await run(process.execPath, ['--conditions=playhead-source', compiled])
  const [results, steps] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
  expect(results).toEqual([{ id: 'c_1', plan: 'pro' }, ['q0', 'q1'], [1], 42, 'lookupPlan'])
  expect(steps).toEqual([
    ['workflow', 'session', null, null],
    ['action', 'lookup_plan', { id: 'c_1' }, { id: 'c_1', plan: 'pro' }],
    ['action', 'search', { query: 'q' }, 'q0q1'],
    ['agent', 'helper', { value: 1 }, [1]],
    ['action', 'private', { value: 21 }, 42],
  ])
})
