import { runAttributionSuite } from './attribution/attribution.ts'
import { runColdStartSuite } from './suites/cold-start.ts'
import { runDashboardListSuite } from './suites/dashboard-list.ts'
import { runDashboardSuite } from './suites/dashboard.ts'
import { runEnginePathSuite } from './suites/engine-path.ts'
import { runFindingsSuite } from './suites/findings.ts'
import { runHotPathSuite } from './suites/hot-path.ts'
import { runIngestSuite } from './suites/ingest.ts'
import { readOptions, type Options, type Suite } from './harness/options.ts'
import { runPeersSuite } from './peers/peers.ts'
import { Progress } from './harness/progress.ts'
import { runQuerySuite } from './suites/query.ts'
import { printReport, type Report } from './harness/report.ts'
import { runRedactionSuite } from './suites/redaction.ts'
import { runSdkSuite } from './suites/sdk.ts'
import { runSiegeSuite } from './suites/siege.ts'
import { runStorageSuite } from './suites/storage.ts'
import { runTestingSuite } from './suites/testing.ts'
import { runViewersSuite } from './suites/viewers.ts'
import { runVisibilitySuite } from './suites/visibility.ts'
import { runWatchSuite } from './suites/watch.ts'
import { renderBenchmarks, writeBenchmarks } from './write-benchmarks.ts'

const runSuite: Record<Suite, (options: Options, progress: Progress) => Promise<Report>> = {
  ingest: runIngestSuite,
  'hot-path': runHotPathSuite,
  'engine-path': runEnginePathSuite,
  visibility: runVisibilitySuite,
  query: runQuerySuite,
  storage: runStorageSuite,
  'cold-start': runColdStartSuite,
  sdk: runSdkSuite,
  dashboard: runDashboardSuite,
  'dashboard-list': runDashboardListSuite,
  testing: runTestingSuite,
  redaction: runRedactionSuite,
  siege: runSiegeSuite,
  viewers: runViewersSuite,
  attribution: runAttributionSuite,
  findings: runFindingsSuite,
  watch: runWatchSuite,
  peers: runPeersSuite,
}

const options = readOptions(process.argv.slice(2))
if ('help' in options) {
  console.log(options.help)
} else if ('problem' in options) {
  console.error(options.problem)
  process.exitCode = 1
} else if (options.length === 0) {
  console.error(`wrote ${renderBenchmarks()}`)
} else {
  for (const one of options) await runOne(one)
}

async function runOne(one: Options): Promise<void> {
  const progress = new Progress()
  const report = await runSuite[one.suite](one, progress)
  progress.end()
  printReport(report, one.isJson)
  if (one.isWritten) console.error(`wrote ${writeBenchmarks(report)}`)
}
