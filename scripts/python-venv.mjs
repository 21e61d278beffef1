// The Python that clients/python is tested with: an interpreter, and an environment with what the tests need.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createEnvironment, installPackages, interpreterOf } from './python-packages.ts'

// Older SDK versions use httpx. The last three build and check the package.
const packages = [
  'pytest==9.2.0',
  'openai==3.49.0',
  'anthropic==2.8.0',
  'httpx==0.28.1',
  'numpy==2.4.6',
  'pandas==3.1.1',
  'pytest-asyncio==1.5.0',
  'pytest-rerunfailures==16.7',
  'pytest-xdist==3.8.0',
  'requests==2.34.2',
  'aiohttp==3.14.5',
  'google-genai==3.3.0',
  'ollama==0.6.3',
  'grpcio==1.85.1',
  'pycurl==7.49.0',
  'setuptools==80.9.0',
  'mypy==2.4.1',
  'pyright==1.1.414',
]
const oldestPython = [3, 9]

export const root = fileURLToPath(new URL('..', import.meta.url))
export const client = join(root, 'clients/python')
export const cache = join(root, 'node_modules/.cache/playhead-python')

export function findPython() {
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
export function withoutPython() {
  shout(
    `PYTHON: there is no Python ${oldestPython.join('.')} or later with venv on this machine.`,
    'clients/python is NOT tested. Install Python, or name it in PLAYHEAD_PYTHON.',
  )
  return process.env.CI === 'true' ? 1 : 0
}

/** The interpreter of the prepared environment; undefined if it can't be created. */
export async function prepareVenv(python) {
  const version = spawnSync(python, ['-VV']).stdout
  const pyproject = readFileSync(join(client, 'pyproject.toml'))
  const key = createHash('sha256').update(version).update(packages.join('\n')).update(pyproject).digest('hex')
  const folder = join(cache, key.slice(0, 16))
  const interpreter = interpreterOf(folder)
  const stamp = join(folder, '.complete')
  if (existsSync(stamp)) return interpreter
  console.log('Installing pytest and the OpenAI and Anthropic SDKs for Python (once)…')
  rmSync(folder, { recursive: true, force: true })
  // Install from a copy, because building leaves files behind. The tests run the sources; this only adds the entry point.
  const copy = mkdtempSync(join(tmpdir(), 'playhead-package-'))
  try {
    copySources(copy)
    await createEnvironment(python, folder, packages)
    await installPackages(interpreter, ['--no-deps', '--no-build-isolation', copy])
  } catch (error) {
    console.error(String(error.stderr || error))
    return undefined
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
  writeFileSync(stamp, '')
  return interpreter
}

/** Copies what the package is built from, without what earlier builds and tests left behind. */
export function copySources(folder) {
  const isSource = (path) => !/(?:^|[/\\])(?:build|__pycache__|[^/\\]+\.egg-info)$/.test(path)
  cpSync(client, folder, { recursive: true, filter: isSource })
}

export function shout(...lines) {
  const bar = '!'.repeat(100)
  console.error([bar, ...lines.map((line) => `!! ${line}`), bar].join('\n'))
}
