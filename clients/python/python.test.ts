import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { assembleEvents, createRedactor, readCassette, writeCassette } from '@playhead/model'
import { describe, expect, test } from 'vitest'
import {
  plantForRules,
  plantInnocents,
  plantSecrets,
  userRules,
} from '../../packages/playhead/test/redaction/corpus.ts'
import { findLeaks } from '../../packages/playhead/test/redaction/find-leaks.ts'
import { keyNames, namedFamilies } from '../../packages/playhead/test/redaction/planted-secrets.ts'
import { edgeTexts } from './tests/edge-texts.ts'
import { names, patchworkTexts } from './tests/patchwork-texts.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Runs a script of the repository as people do, and gives how it ended and what it said. */
async function runScript(name: string, ...args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, ['--conditions=playhead-source', `scripts/${name}`, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, output }
}

test('the prices that Python has are those of the table', async () => {
  expect(await runScript('write-python-prices.mjs', '--check')).toEqual({ code: 0, output: '' })
})

// The first run installs pytest and the SDKs.
test('the Python package passes its tests', { timeout: 900_000 }, async () => {
  const run = await runScript('test-python.mjs')
  process.stdout.write(run.output)
  expect(run).toMatchObject({ code: 0 })
})

test(
  'the wheel and the sdist are built, and the wheel is typed for its users',
  { timeout: 900_000 },
  async () => {
    const run = await runScript('check-python-package.mjs')
    process.stdout.write(run.output)
    expect(run).toMatchObject({ code: 0 })
  },
)

const python = [process.env.PLAYHEAD_PYTHON, 'python3', 'python'].find(
  (name) => name && spawnSync(name, ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0,
)

// As above: a machine may be without Python, a build may not.
describe.skipIf(python === undefined && process.env.CI !== 'true')('redaction in Python', () => {
  const planted = [...plantSecrets(1, 6), ...plantForRules(1, 6)]
  const innocents = plantInnocents(1, 60)
  const carried = [...planted, ...innocents].map(({ value }) =>
    typeof value === 'string' ? value : JSON.stringify(value),
  )
  const texts = [...carried, ...edgeTexts, ...patchworkTexts(1, 4_000)]
  const keys = [...keyNames, ...Object.values(namedFamilies).flat(), ...names]
  const answers = new Map<readonly (string | RegExp)[], Kept>()

  /** Asked once for each set of rules: starting Python and masking thousands of texts takes seconds. */
  function keptWith(rules: readonly (string | RegExp)[]): Kept {
    const answer = answers.get(rules) ?? keepInPython(rules, texts, keys)
    answers.set(rules, answer)
    return answer
  }

  test.each([
    ['without rules', []],
    ['with rules of the user', userRules],
  ])('keeps of texts and keys what TypeScript keeps, %s', (_, rules) => {
    const redactor = createRedactor(rules)
    const { kept, secretKeys } = keptWith(rules)
    const differing = texts
      .map((text, index) => ({ text, typescript: redactor.text(text, 'x'), python: kept[index] }))
      .filter(({ typescript, python }) => typescript !== python)
    expect({ count: differing.length, first: differing.slice(0, 5) }).toEqual({ count: 0, first: [] })
    expect(secretKeys).toEqual(keys.filter((key) => redactor.isSecretKey(key)))
  })

  test('hides what was planted, and alters nothing else', () => {
    const kept = keptWith(userRules).kept.slice(0, carried.length)
    const leaked = findLeaks(planted, [JSON.stringify(kept.slice(0, planted.length))])
    expect([...leaked].map(({ family, carrier, hidden }) => [family, carrier, hidden])).toEqual([])
    expect(kept.slice(planted.length)).toEqual(carried.slice(planted.length))
  })

  test('no cassette holds a secret, whole or in the pieces of a stream', () => {
    const planted = [...plantSecrets(2, 1), ...plantForRules(2, 1)]
    const cassette = runPython('tests.write_cassette', {
      values: planted.map(({ value }) => value),
      rules: rulesForPython(userRules),
    })
    const { entries } = readCassette(cassette)
    expect(entries).toHaveLength(planted.length * 6)
    // A secret that is cut into pieces is one as soon as they are joined.
    const joined = entries.map((entry) => {
      if (entry.kind === 'action') return [entry.result].flat().join('')
      return 'events' in entry.answer ? assembleEvents(entry.answer.events, entry.api) : ''
    })
    const leaked = findLeaks(planted, [JSON.stringify(cassette), JSON.stringify(joined)])
    expect([...leaked].map(({ family, carrier, hidden }) => [family, carrier, hidden])).toEqual([])
    expect(writeCassette(readCassette(cassette), createRedactor(userRules))).toBe(cassette)
  })
})

type Kept = { kept: string[]; secretKeys: string[] }

/** What the Python package keeps of texts, and which of the keys are secret to it. */
function keepInPython(rules: readonly (string | RegExp)[], texts: string[], keys: string[]): Kept {
  const output = runPython('tests.keep_texts', { texts, keys, rules: rulesForPython(rules) })
  return JSON.parse(output) as Kept
}

function rulesForPython(rules: readonly (string | RegExp)[]): object[] {
  return rules.map((rule) => (typeof rule === 'string' ? { name: rule } : { pattern: rule.source }))
}

/** What a module of the tests prints for an input. */
function runPython(module: string, input: object): string {
  const { stdout, stderr } = spawnSync(python!, ['-m', module], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    env: { ...process.env, PYTHONPATH: 'src', PYTHONDONTWRITEBYTECODE: '1' },
    input: JSON.stringify(input),
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  })
  expect(stderr).toBe('')
  return stdout
}
