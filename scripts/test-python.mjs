// Tests clients/python against a real server and a scripted model. Installs pytest and the OpenAI and
// Anthropic SDKs once; without a registry, only the tests that don't need them run.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startScriptedModel } from '../examples/scripted-model/src/index.ts'
import { startTestServer } from '../packages/server/test/test-server.ts'

// Older SDK versions use httpx.
const packages = ['pytest==9.2.0', 'openai==3.49.0', 'anthropic==2.8.0', 'httpx==0.28.1']
const oldestPython = [3, 9]

const root = fileURLToPath(new URL('..', import.meta.url))
const client = join(root, 'clients/python')
const cache = join(root, 'node_modules/.cache/playhead-python')

process.exitCode = await main()

async function main() {
  const python = findPython()
  if (python === undefined) return withoutPython()
  const venv = prepareVenv(python)
  if (venv === undefined)
    shout(
      'PYTHON: the package registry is unreachable, so pytest, openai and anthropic are missing.',
      'Running only the tests that need none of them: capture and the pytest plugin are NOT tested.',
    )
  const folder = mkdtempSync(join(tmpdir(), 'playhead-python-'))
  const [server, model] = await Promise.all([startTestServer(), startScriptedModel(answerAsTold)])
  try {
    return await run(venv ?? python, testArguments(venv !== undefined), {
      PYTHONPATH: join(client, 'src'),
      PYTHONDONTWRITEBYTECODE: '1',
      PLAYHEAD_ENDPOINT: server.url,
      PLAYHEAD_SPOOL: 'off',
      PLAYHEAD_TEST_MODEL: model.url,
      PLAYHEAD_TEST_NODE: process.execPath,
      PLAYHEAD_TEST_FOLDER: folder,
      OPENAI_BASE_URL: `${model.url}/v1`,
      OPENAI_API_KEY: 'no-key',
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'no-key',
    })
  } finally {
    await Promise.all([server.stop(), model.stop()])
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A test sets the model's reply with `reply:` and JSON. Any other text is a customer's message. */
function answerAsTold({ userText, messages }) {
  const [, told] = /reply:(\{.*\})/s.exec(userText) ?? []
  if (told !== undefined) return JSON.parse(told)
  const system = messages.find(({ role }) => role === 'system')?.text ?? ''
  if (system.includes('one word'))
    return { text: /charge|bill/i.test(userText) ? 'billing' : 'general', usage: { input: 46, output: 1 } }
  if (system.includes('billing'))
    return { text: 'We found two charges and refund the second.', usage: { input: 412, output: 48 } }
  return { text: 'Could you tell us a little more about it?', usage: { input: 58, output: 21 } }
}

function testArguments(hasPytest) {
  const chosen = process.argv.slice(2)
  if (!hasPytest) return ['-m', 'unittest', ...testsThatNeedNothing()]
  return ['-m', 'pytest', '-q', '--tb=short', '-p', 'no:cacheprovider', ...chosen]
}

function testsThatNeedNothing() {
  const files = readdirSync(join(client, 'tests')).filter((name) => /^test_.*\.py$/.test(name))
  return files.map((name) => `tests.${name.slice(0, -'.py'.length)}`)
}

function findPython() {
  for (const name of [process.env.PLAYHEAD_PYTHON, 'python3', 'python'].filter(Boolean)) {
    const { status, stdout } = spawnSync(name, ['-c', 'import sys, venv; print(*sys.version_info[:2])'])
    const [major, minor] = String(stdout ?? '')
      .trim()
      .split(' ')
      .map(Number)
    if (status === 0 && (major > oldestPython[0] || (major === oldestPython[0] && minor >= oldestPython[1])))
      return name
  }
  return undefined
}

/** Without Python you can still work on everything else, but CI must fail. */
function withoutPython() {
  shout(
    `PYTHON: there is no Python ${oldestPython.join('.')} or later with venv on this machine.`,
    'clients/python is NOT tested. Install Python, or name it in PLAYHEAD_PYTHON.',
  )
  return process.env.CI === 'true' ? 1 : 0
}

/** The interpreter of the prepared environment; undefined if it can't be created. */
function prepareVenv(python) {
  const version = spawnSync(python, ['-VV']).stdout
  const pyproject = readFileSync(join(client, 'pyproject.toml'))
  const key = createHash('sha256').update(version).update(packages.join('\n')).update(pyproject).digest('hex')
  const folder = join(cache, key.slice(0, 16))
  const isWindows = process.platform === 'win32'
  const interpreter = join(folder, isWindows ? 'Scripts/python.exe' : 'bin/python')
  const stamp = join(folder, '.complete')
  if (existsSync(stamp)) return interpreter
  console.log('Installing pytest and the OpenAI and Anthropic SDKs for Python (once)…')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  // Install from a copy, because building leaves files behind. The tests run the sources; this only adds the entry point.
  const copy = join(folder, 'package')
  cpSync(client, copy, { recursive: true })
  const pip = [interpreter, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
  const isDone =
    succeeds(python, '-m', 'venv', folder) &&
    succeeds(...pip, ...packages) &&
    succeeds(...pip, '--no-deps', copy)
  rmSync(copy, { recursive: true, force: true })
  if (!isDone) return undefined
  writeFileSync(stamp, '')
  return interpreter
}

function succeeds(command, ...args) {
  return spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'], timeout: 300_000 }).status === 0
}

function run(command, args, environment) {
  return new Promise((resolve) => {
    const { PLAYHEAD_API_KEY: _key, PLAYHEAD_DIR: _dir, TRACEPARENT: _trace, ...others } = process.env
    const child = spawn(command, args, { cwd: client, stdio: 'inherit', env: { ...others, ...environment } })
    child.once('error', () => resolve(1))
    child.once('close', (code) => resolve(code ?? 1))
  })
}

function shout(...lines) {
  const bar = '!'.repeat(100)
  console.error([bar, ...lines.map((line) => `!! ${line}`), bar].join('\n'))
}
