import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const action = await readFile(`${root}/action.yml`, 'utf8')

/** The script of a step. */
function scriptOf(name: string): string {
  const step = action.slice(action.indexOf(`- name: ${name}`)).split('\n    - name:', 1)[0]!
  const script = /\n {6}run: \|\n((?: {8}.*\n?)+)/.exec(step)?.[1]
  if (script === undefined) throw new Error(`the step "${name}" runs nothing`)
  return script.replaceAll(/^ {8}/gm, '')
}

function run(
  name: string,
  environment: Record<string, string>,
): Promise<{ output: string; exitCode: number }> {
  const PATH = `${root}/node_modules/.bin:${process.env.PATH}`
  const { HOME, NODE_COMPILE_CACHE } = process.env
  const env = { PATH, HOME, NODE_COMPILE_CACHE, NODE_OPTIONS: '--conditions=playhead-source', ...environment }
  return new Promise((resolve) => {
    const args = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', scriptOf(name)]
    execFile('bash', args, { cwd: root, env }, (error, stdout, stderr) =>
      resolve({ output: stdout + stderr, exitCode: error === null ? 0 : Number(error.code) }),
    )
  })
}

test('the test step passes the server on and keeps the exit code', async () => {
  const outcome = await run('Run agent tests', {
    PLAYHEAD_TEST: 'echo "to ${PLAYHEAD_ENDPOINT-nobody} as ${PLAYHEAD_API_KEY-nobody}"; exit 7',
    PLAYHEAD_INPUT_ENDPOINT: 'http://playhead:4318',
    PLAYHEAD_INPUT_KEY: '',
  })
  expect(outcome).toEqual({ output: 'to http://playhead:4318 as nobody\n', exitCode: 7 })
})

test('the check step passes its conditions on as separate arguments', async () => {
  const outcome = await run('Check sessions', {
    PLAYHEAD_CHECK: '--max-failure-rate 0.05 --since 24h',
    PLAYHEAD_ENDPOINT: 'http://127.0.0.1:9',
    PLAYHEAD_API_KEY: '',
  })
  expect(outcome.output).toContain('127.0.0.1:9')
  expect(outcome.exitCode).toBe(2)
})
