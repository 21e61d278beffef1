import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { formatBytes } from '@playhead/model'
import { describeReport } from '../../report/describe-report.ts'
import { writeReport } from '../../report/write-report.ts'
import { checkWord } from '../arguments/option-values.ts'
import { CliError } from '../terminal/cli-error.ts'
import { defineCommand } from '../arguments/command.ts'
import { explainFileError } from '../client/download.ts'

const RUNS = '.playhead'
const DEFAULT_FOLDER = 'playhead-report'

export const reportCommand = defineCommand({
  name: 'report',
  arguments: ['recordings…'],
  summary: 'one page of many recordings, with what the tests came to',
  details: `<recordings…> are folders and files: what tests left in .playhead/, what "playhead export" wrote, the
shards of a run, which become one. Without any: the last run in .playhead/. The page is one file that
opens from disk; junit.xml is beside it. In GitHub Actions the step's summary and annotations are written too.`,
  options: {
    output: {
      type: 'text',
      short: 'o',
      value: 'folder',
      summary: `where it goes (default ${DEFAULT_FOLDER})`,
    },
    keep: { type: 'text', value: 'which', summary: 'sessions to replay in it: all (default) or failures' },
  },
  examples: [
    ['playhead report', 'the last run of tests here'],
    ['playhead report shard-*/.playhead -o playhead-report', 'the shards of a run, as one'],
    ['playhead report failure.json other.json', 'recordings side by side'],
  ],
  async run({ options, positionals, terminal }) {
    const keep = options.keep ?? 'all'
    checkWord('keep', keep, ['all', 'failures'])
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
    if (written.sessionCount === 0) throw new CliError(`There is no recording in ${from.join(', ')}.`)
    for (const line of written.annotations) terminal.print(line)
    terminal.print(describeReport(written.report))
    terminal.note(`The report is ${written.page} (${formatBytes(written.bytes)}).`)
  },
})

async function findLastRun(): Promise<string> {
  const names = await readdir(RUNS).catch(() => [])
  const found = await Promise.all(
    names.map(async (name) => ({ path: join(RUNS, name), info: await stat(join(RUNS, name)) })),
  )
  const runs = found
    .filter(({ info }) => info.isDirectory())
    .toSorted((left, right) => right.info.mtimeMs - left.info.mtimeMs)
  const last = runs[0]
  if (last === undefined)
    throw new CliError(
      `No tests were recorded here: there is no run in ${RUNS}. Name the recordings: playhead report <folder or file> …`,
    )
  return last.path
}
