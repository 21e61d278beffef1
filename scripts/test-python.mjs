// Tests clients/python against a real server and a scripted model. Installs pytest and the OpenAI and
// Anthropic SDKs once; without a registry, only the tests that don't need them run. With --long, campaigns run whole.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { startScriptedModel } from '../examples/scripted-model/src/index.ts'
import { startTestServer } from '../packages/server/test/test-server.ts'
import { cache, client, findPython, prepareVenv, root, shout, withoutPython } from './python-venv.mjs'

/** Campaigns of minutes instead of their samples. */
const isLong = process.argv.includes('--long')

process.exitCode = await main()

async function main() {
  const python = findPython()
  if (python === undefined) return withoutPython()
  const venv = await prepareVenv(python)
  if (venv === undefined)
    shout(
      'PYTHON: the package registry is unreachable, so pytest, openai and anthropic are missing.',
      'Running only the tests that need none of them: capture and the pytest plugin are NOT tested.',
    )
  const folder = mkdtempSync(join(tmpdir(), 'playhead-python-'))
  const certificate = join(folder, 'certificate.pem')
  writeFileSync(certificate, rootCertificates[0])
  const [server, model] = await Promise.all([startTestServer(), startScriptedModel(answerAsTold)])
  try {
    return await run(venv ?? python, testArguments(venv !== undefined), {
      PYTHONPATH: join(client, 'src'),
      // Outside of the sources, and kept: many tests start a process, and compiling the SDKs takes most of its time.
      PYTHONDONTWRITEBYTECODE: '',
      PYTHONPYCACHEPREFIX: join(cache, 'bytecode'),
      NODE_COMPILE_CACHE: join(cache, 'node'),
      // Nothing here is encrypted, and a client of an SDK reads the system's hundreds of certificates each time it is made.
      SSL_CERT_FILE: certificate,
      PLAYHEAD_ENDPOINT: server.url,
      PLAYHEAD_SPOOL: 'off',
      PLAYHEAD_TEST_MODEL: model.url,
      PLAYHEAD_TEST_NODE: process.execPath,
      PLAYHEAD_TEST_FOLDER: folder,
      PLAYHEAD_CLI: `"${process.execPath}" --conditions=playhead-source "${join(root, 'packages/playhead/src/cli/main.ts')}"`,
      ...(isLong && { PLAYHEAD_LONG: '1', PLAYHEAD_HOSTILE_CALLS: '1000' }),
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
  const chosen = process.argv.slice(2).filter((argument) => argument !== '--long')
  if (!hasPytest) return ['-m', 'unittest', ...testsThatNeedNothing()]
  return ['-m', 'pytest', '-q', '--tb=short', '-p', 'no:cacheprovider', ...chosen]
}

function testsThatNeedNothing() {
  const files = readdirSync(join(client, 'tests')).filter((name) => /^test_.*\.py$/.test(name))
  return files.map((name) => `tests.${name.slice(0, -'.py'.length)}`)
}

function run(command, args, environment) {
  return new Promise((resolve) => {
    const { PLAYHEAD_API_KEY: _key, PLAYHEAD_DIR: _dir, TRACEPARENT: _trace, ...others } = process.env
    const child = spawn(command, args, { cwd: client, stdio: 'inherit', env: { ...others, ...environment } })
    child.once('error', () => resolve(1))
    child.once('close', (code) => resolve(code ?? 1))
  })
}
