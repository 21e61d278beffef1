import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { findPython } from './python-project.ts'
import { parseJson, toObject, visibleLines, type TestRunner } from '@playhead/model'
import { nodeConditions } from '../../rerun/child-process.ts'

export type TestOutcome = {
  /** False if the runner could not be started; then `output` says why. */
  isRun: boolean
  isPassed: boolean
  durationMs: number
  output: string
}

/** The runner that the project has; that of Node if it has none. */
export function detectRunner(folder: string): TestRunner {
  const dependencies = dependenciesOf(folder)
  if ('vitest' in dependencies) return 'vitest'
  if ('jest' in dependencies || '@jest/globals' in dependencies) return 'jest'
  return resolveFrom(folder, 'vitest/package.json') === undefined ? 'node-test' : 'vitest'
}

function dependenciesOf(folder: string): Record<string, unknown> {
  const { dependencies, devDependencies } = manifestOf(folder)
  return { ...toObject(dependencies), ...toObject(devDependencies) }
}

/** True if the files of a project are ES modules. */
export function isModulePackage(folder: string): boolean {
  return manifestOf(folder).type === 'module'
}

function manifestOf(folder: string): Record<string, unknown> {
  const file = join(folder, 'package.json')
  return existsSync(file) ? toObject(parseJson(readFileSync(file, 'utf8'))) : {}
}

function resolveFrom(folder: string, name: string): string | undefined {
  try {
    return createRequire(join(folder, 'x.js')).resolve(name)
  } catch {
    return undefined
  }
}

/** Each formatter that a project may have, in the order of preference. */
const formatters: readonly [name: string, args: readonly string[]][] = [
  ['prettier', ['--write']],
  ['oxfmt', []],
  ['biome', ['format', '--write']],
]

/** Formats a file with the project's formatter, if it has one. */
export async function formatFile(file: string, folder: string): Promise<void> {
  const path = resolve(file)
  if (path.endsWith('.py')) return void (await run('ruff', ['format', path], { cwd: folder }))
  for (const [name, args] of formatters) {
    const command = findBin(folder, name)
    if (command !== undefined) return void (await run(command, [...args, path], { cwd: folder }))
  }
}

function findBin(folder: string, name: string): string | undefined {
  for (let place = resolve(folder); ; place = dirname(place)) {
    const command = join(place, 'node_modules/.bin', name)
    if (existsSync(command)) return command
    if (dirname(place) === place) return undefined
  }
}

/** Runs one test file. In strict mode nothing that it asks for reaches the network. */
export async function runTest(
  file: string,
  { runner, folder, mode }: { runner: TestRunner; folder: string; mode: 'strict' | 'fill' },
): Promise<TestOutcome> {
  const command = commandOf(runner, resolve(file), folder)
  if (command === undefined)
    return {
      isRun: false,
      isPassed: false,
      durationMs: 0,
      output: `${runner} is not installed in ${folder}.`,
    }
  const startedAt = performance.now()
  const { code, output } = await run(command[0]!, command.slice(1), {
    cwd: folder,
    env: { ...process.env, PLAYHEAD_CASSETTE: mode, NO_COLOR: '1', NODE_OPTIONS: nodeOptions(), VITEST: '' },
  })
  const isMissing = /No module named pytest|ENOENT/.test(output) && runner === 'pytest'
  return {
    isRun: !isMissing,
    isPassed: code === 0,
    durationMs: Math.round(performance.now() - startedAt),
    output: visibleLines(output.trim()),
  }
}

function commandOf(runner: TestRunner, file: string, folder: string): string[] | undefined {
  if (runner === 'pytest') return [findPython(folder), '-m', 'pytest', '-q', file]
  if (runner === 'node-test')
    return [process.execPath, '--experimental-strip-types', '--no-warnings', '--test', file]
  const manifest = resolveFrom(folder, `${runner}/package.json`)
  if (manifest === undefined) return undefined
  const script = runner === 'vitest' ? 'vitest.mjs' : 'bin/jest.js'
  const args = runner === 'vitest' ? ['run', file] : [file]
  return [process.execPath, join(dirname(manifest), script), ...args, `--testTimeout=${TIMEOUT_MS}`]
}

/** A first run on a busy machine may take long, which says nothing about the agent. */
const TIMEOUT_MS = 60_000

/** As this process resolves modules, so does the runner. */
function nodeOptions(): string {
  return [process.env.NODE_OPTIONS ?? '', ...nodeConditions()].join(' ').trim()
}

function run(
  command: string,
  args: readonly string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<{ code: number; output: string }> {
  return new Promise((done) => {
    execFile(command, args, { ...options, maxBuffer: 32 * 1024 * 1024 }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : Number(error.code) || 1, output: `${stdout}${stderr}` }),
    )
  })
}
