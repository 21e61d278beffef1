import { relative } from 'node:path'
import { formatBytes, safeForLog } from '@playhead/model'
import { describeReport } from './report/describe-report.ts'
import { writeReport } from './report/write-report.ts'
import { announceTestRun, type TestRun } from './testing/runs/announce-test-run.ts'

export type ReporterOptions = {
  /** The folder to write to; `playhead-report` by default. */
  outputFolder?: string | undefined
  /** Which sessions include their replay: `all`, or only `failures` (every test that did not simply pass). */
  keep?: 'all' | 'failures' | undefined
}

/**
 * Writes the report after the tests. Works with vitest and jest.
 *
 * @example
 * // vitest.config.ts
 * test: { reporters: ["default", "playhead/reporter"] }
 * // jest.config.js
 * reporters: ["default", "playhead/reporter"]
 */
// Runners load a reporter from the default export.
// oxlint-disable-next-line import/no-default-export
export default class PlayheadReporter {
  readonly #options: ReporterOptions
  readonly #givenRunId = process.env.PLAYHEAD_RUN_ID
  #run: TestRun | undefined
  #runCount = 0

  /** vitest passes the options as the first argument, jest as the second. */
  constructor(first: ReporterOptions = {}, second?: ReporterOptions) {
    this.#options = second ?? ('rootDir' in first ? {} : first)
    this.#begin()
  }

  /** Called by vitest before every run; watch mode has many. */
  onTestRunStart(): void {
    if (this.#runCount > 0) this.#begin()
    this.#runCount += 1
  }

  /** Called by vitest after every run. */
  onTestRunEnd(): Promise<void> {
    return this.#write()
  }

  /** Called by jest after all tests. */
  onRunComplete(): Promise<void> {
    return this.#write()
  }

  #begin(): void {
    const { env: environment } = process
    delete environment.PLAYHEAD_RUN_DIR
    if (this.#runCount > 0)
      environment.PLAYHEAD_RUN_ID = `${this.#run?.id.replace(/\+\d+$/, '')}+${this.#runCount}`
    else if (this.#givenRunId === undefined) delete environment.PLAYHEAD_RUN_ID
    this.#run = announceTestRun(environment)
    environment.PLAYHEAD_REPORT = `${relative(process.cwd(), this.#folder)}/index.html`
  }

  get #folder(): string {
    return this.#options.outputFolder ?? 'playhead-report'
  }

  async #write(): Promise<void> {
    if (this.#run === undefined) return
    try {
      const { keep } = this.#options
      const written = await writeReport({ from: [this.#run.folder], folder: this.#folder, keep })
      if (written.report.tests.length === 0) return
      const lines = [
        ...written.problems.map(safeForLog),
        ...written.annotations,
        `\nPlayhead: ${describeReport(written.report)}\n          ${written.page} (${formatBytes(written.bytes)})\n`,
      ]
      process.stdout.write(`${lines.join('\n')}\n`)
    } catch (error) {
      // A failed report must not fail the tests.
      process.stderr.write(`Playhead could not write the report: ${safeForLog((error as Error).message)}\n`)
    }
  }
}
