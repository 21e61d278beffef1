import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { formatBytes } from '@playhead/model'
import { describeReport } from '../../report/describe-report.ts'
import { writeReport } from '../../report/write-report.ts'
import { defineCommand } from '../arguments/command.ts'
import { checkChoice } from '../arguments/option-values.ts'
import { explainFileError } from '../client/download.ts'
import { CliError } from '../terminal/cli-error.ts'

const RUNS_FOLDER = '.playhead'
const DEFAULT_FOLDER = 'playhead-report'

export const reportCommand = defineCommand({
  name: 'report',
  arguments: ['recordings…'],
  summary: 'Build an HTML report of test runs and recordings',
  details: `[recordings…] are folders and files: test runs in .playhead/, files from "playhead export", or the shards of
a run, which are merged. Without arguments, it uses the last run in .playhead/. The report is a single
HTML file that opens from disk, with junit.xml next to it. In GitHub Actions it also writes the step
summary and annotations.`,
  options: {
    output: {
      type: 'text',
      short: 'o',
      value: 'folder',
      summary: `Folder to write to (default ${DEFAULT_FOLDER})`,
    },
    keep: { type: 'text', value: 'which', summary: 'Replays to include: all (default) or failures' },
  },
  examples: [
    ['playhead report', 'Report on the last test run in this folder'],
    ['playhead report shard-*/.playhead -o playhead-report', 'Merge the shards of a run'],
    ['playhead report failure.json other.json', 'Put several recordings on one page'],
  ],
  async run({ options, positionals, terminal }) {
    const keep = options.keep ?? 'all'
    checkChoice('keep', keep, ['all', 'failures'])
    const from = positionals.length > 0 ? positionals : [await findLastRun()]
    const folder = options.output ?? DEFAULT_FOLDER
    const written = await writeReport({
      from,
      folder,
      keep: keep === 'failures' ? 'failures' : 'all',
      environment: terminal.environment,
    }).catch((error: unknown) => {
      const explained = explainFileError(error, folder)
      throw explained instanceof CliError
        ? explained
        : new CliError((error as Error).message, { cause: error })
    })
    for (const problem of written.problems) terminal.note(problem)
    if (written.sessionCount === 0) throw new CliError(`No recordings found in ${from.join(', ')}.`)
    for (const line of written.annotations) terminal.printCommands(line)
    terminal.print(describeReport(written.report))
    terminal.note(`Wrote ${written.page} (${formatBytes(written.bytes)}).`)
  },
})

async function findLastRun(): Promise<string> {
  const names = await readdir(RUNS_FOLDER).catch(() => [])
  const found = await Promise.all(
    names.map(async (name) => ({ path: join(RUNS_FOLDER, name), info: await stat(join(RUNS_FOLDER, name)) })),
  )
  const runs = found
    .filter(({ info }) => info.isDirectory())
    .toSorted((left, right) => right.info.mtimeMs - left.info.mtimeMs)
  const last = runs[0]
  if (last === undefined)
    throw new CliError(
      `No test runs found in ${RUNS_FOLDER}. Pass recordings instead: playhead report <folder or file> …`,
    )
  return last.path
}
