import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, extname, join, relative, resolve } from 'node:path'
import {
  writeTestFiles,
  type Session,
  type TestFiles,
  type TestFilesOptions,
  type TestRunner,
} from '@playhead/model'
import packageJson from '../../../package.json' with { type: 'json' }
import { locateCassette } from '../../testing/cassettes/cassette-file.ts'
import { CliError } from '../terminal/cli-error.ts'
import { pythonCassette, type PythonProject } from './python-project.ts'
import { formatFile, isModulePackage, runTest, type TestOutcome } from './run-test.ts'

/** The session, and the project that gets the test. */
export type TestProject = {
  parent: Session
  agent: string
  runner: TestRunner
  folder: string
  /** The server that the session is on; undefined for a recording. */
  endpoint?: string | undefined
  configFile?: string | undefined
  python?: PythonProject | undefined
}

/** The session that shows what should have happened. */
export type OtherSession = NonNullable<TestFilesOptions['other']>

/** The files, and the actions that run in the test although they were recorded. */
export type WrittenTest = { test: string; cassette: string; suspects: string[] }

type WriteOptions = { other: OtherSession | undefined; out: string | undefined; isForced: boolean }

/** Writes the files of a test, and runs it. */
export class TestWriter {
  readonly #project: TestProject
  readonly #options: WriteOptions
  readonly #path: string

  constructor(project: TestProject, options: WriteOptions) {
    this.#project = project
    this.#options = options
    const { folder } = project
    this.#path = resolve(folder, testFolder(folder, this.#create(false).test.path))
    if (existsSync(this.#path) && !options.isForced)
      throw new CliError(
        `${relative('.', this.#path)} is there already. Name another file with --out, or pass --force.`,
      )
  }

  /**
   * An action that reads and gave another result when the agent passed may have been fixed in its code, or have read
   * something else. Only a run tells: if it neither passes nor fails as recorded, the action needs what it reads.
   */
  async writeAndRun(mode: 'strict' | 'fill'): Promise<{ written: WrittenTest; outcome: TestOutcome }> {
    const [served, run] = [this.#create(false), this.#create(true)]
    if (run.suspects.length > served.suspects.length) {
      const written = await this.#write(run)
      const outcome = await this.#run(mode)
      if (outcome.isPassed || failsAsRecorded(outcome, this.#project.parent)) return { written, outcome }
    }
    const written = await this.#write(served)
    return { written, outcome: await this.#run(mode) }
  }

  #create(runsReads: boolean): TestFiles {
    const { parent, agent, runner, folder, configFile = '' } = this.#project
    const { other, out } = this.#options
    const extension = /^\.[cm]?js$/.test(extname(configFile)) ? extname(configFile).slice(1) : 'ts'
    return writeTestFiles(parent, {
      runner,
      agent,
      other,
      extension,
      isCommonJs: runner !== 'vitest' && extension === 'js' && !isModulePackage(folder),
      runsReads,
      version: packageJson.version,
      recordedAt: parent.session.startedAt,
      ...(out !== undefined && { testPath: resolve(out) }),
    })
  }

  async #write({ test, cassette, title, suspects }: TestFiles): Promise<WrittenTest> {
    const { python, folder } = this.#project
    const path = this.#path
    const tape =
      python === undefined
        ? locateCassette({ testFile: path, title }, {})
        : pythonCassette(python, path, title)
    for (const [file, text] of [
      [path, test.text],
      [tape, cassette.text],
    ] as const) {
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    }
    await formatFile(path, folder)
    return { test: relative('.', path), cassette: relative('.', tape), suspects }
  }

  #run(mode: 'strict' | 'fill'): Promise<TestOutcome> {
    const { runner, folder } = this.#project
    return runTest(this.#path, { runner, folder, mode })
  }
}

function failsAsRecorded({ output }: TestOutcome, { session, steps }: Session): boolean {
  const messages = steps.flatMap(({ error }) => error?.message ?? [])
  return [session.endStateReason, ...messages].some(
    (text) => text !== undefined && text !== '' && output.includes(text),
  )
}

/** Projects have their tests in `test` or in `tests`. */
function testFolder(folder: string, path: string): string {
  const [first = '', ...rest] = path.split('/')
  const sibling = first === 'test' ? 'tests' : first === 'tests' ? 'test' : undefined
  if (sibling === undefined || existsSync(join(folder, first))) return path
  return existsSync(join(folder, sibling)) ? [sibling, ...rest].join('/') : path
}
