// Builds the sdist and the wheel of clients/python into artifacts/, installs the wheel alone with pytest, and checks
// it as a user would have it: its tests run, their types are right for mypy and pyright, and every type is known.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createEnvironment, interpreterOf } from './python-packages.ts'
import {
  cache,
  client,
  copySources,
  findPython,
  prepareVenv,
  root,
  shout,
  withoutPython,
} from './python-venv.mjs'

const build = `
import os, sys, tarfile
from setuptools import build_meta
source, target = sys.argv[1:]
os.chdir(source)
sdist = build_meta.build_sdist(target)
# The wheel comes from the sdist, which proves that nothing is missing in it.
with tarfile.open(os.path.join(target, sdist)) as archive:
    archive.extractall(target)
os.chdir(os.path.join(target, sdist.replace(".tar.gz", "")))
build_meta.build_wheel(target)
`

process.exitCode = await main()

async function main() {
  const python = findPython()
  if (python === undefined) return withoutPython()
  const tools = await prepareVenv(python)
  if (tools === undefined) {
    shout(
      'PYTHON: the package registry is unreachable, so the package is NOT built and its types NOT checked.',
    )
    return process.env.CI === 'true' && process.env.PLAYHEAD_REQUIRE_REGISTRY === '1' ? 1 : 0
  }
  const folder = mkdtempSync(join(tmpdir(), 'playhead-package-'))
  try {
    const wheel = buildDistributions(tools, folder)
    return wheel !== undefined && (await checkWheel(tools, wheel, folder)) ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function buildDistributions(tools, folder) {
  const [source, target, artifacts] = [join(folder, 'source'), join(folder, 'dist'), join(root, 'artifacts')]
  copySources(source)
  for (const one of [target, artifacts]) mkdirSync(one, { recursive: true })
  if (!passes('build', [tools, '-c', build, source, target])) return undefined
  const built = readdirSync(target).filter((name) => /\.(?:whl|tar\.gz)$/.test(name))
  for (const name of built) copyFileSync(join(target, name), join(artifacts, name))
  console.log(`built ${built.join(' and ')}`)
  return join(
    target,
    built.find((name) => name.endsWith('.whl')),
  )
}

async function checkWheel(tools, wheel, folder) {
  const venv = join(folder, 'venv')
  const python = interpreterOf(venv)
  const suite = join(folder, 'typed_suite.py')
  copyFileSync(join(client, 'tests/typed_suite.py'), suite)
  await createEnvironment(tools, venv, ['pytest==9.2.0', wheel])
  // pyright starts Node, and looks for packages where the first Python of the path has them.
  const path = [dirname(python), dirname(process.execPath), process.env.PATH].join(delimiter)
  const at = {
    cwd: folder,
    env: { ...process.env, PATH: path, PLAYHEAD_ENDPOINT: '', PLAYHEAD_SPOOL: 'off' },
  }
  const mypy = ['-m', 'mypy', '--strict', '--cache-dir', join(cache, 'mypy'), '--python-executable', python]
  const pyright = [tools, '-m', 'pyright']
  return (
    passes('pytest', [python, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', suite], at) &&
    // With the sources, because two runs take longer. Pyright takes the types from the wheel.
    passes('mypy --strict', [tools, ...mypy, suite, join(client, 'src')], at) &&
    passes('pyright', [...pyright, '--pythonpath', python, suite], at) &&
    passes('pyright --verifytypes', [...pyright, '--verifytypes', 'playhead', '--ignoreexternal'], at)
  )
}

/** Runs a command, and prints what it said if it failed. */
function passes(name, [command, ...args], options = {}) {
  const done = spawnSync(command, args, { encoding: 'utf8', timeout: 300_000, ...options })
  console.log(`${done.status === 0 ? 'ok  ' : 'FAIL'} ${name}`)
  if (done.status !== 0) console.error(`${done.stdout}${done.stderr}${done.error ?? ''}`)
  return done.status === 0
}
