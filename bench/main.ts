import { runDashboardListSuite } from './dashboard-list.ts'
import { runIngestSuite } from './ingest.ts'
import { readOptions, type Options } from './options.ts'
import { Progress } from './progress.ts'
import { runQuerySuite } from './query.ts'
import { printReport, type Report } from './report.ts'

const runSuite: Record<Options['suite'], (options: Options, progress: Progress) => Promise<Report>> = {
  ingest: runIngestSuite,
  query: runQuerySuite,
  'dashboard-list': runDashboardListSuite,
}

const options = readOptions(process.argv.slice(2))
if ('problem' in options) {
  console.error(options.problem)
  process.exitCode = 1
} else {
  const progress = new Progress()
  const report = await runSuite[options.suite](options, progress)
  progress.end()
  printReport(report, options.isJson)
}
