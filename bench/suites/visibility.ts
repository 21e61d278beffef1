import { startBenchServer } from '../server/bench-server.ts'
import { withDataDirectory } from '../harness/data-directory.ts'
import { describeMachine } from '../harness/machine.ts'
import type { Options } from '../harness/options.ts'
import { percentile } from '../harness/percentile.ts'
import type { Progress } from '../harness/progress.ts'
import type { Figure, Report } from '../harness/report.ts'
import { targets } from '../harness/targets.ts'
import { measureVisibility } from '../server/visibility.ts'

const SESSIONS = 60
const PAUSE_MS = 200

/** Measures on an idle server how soon a session can be listed and opened: a part of the ingest suite on its own. */
export async function runVisibilitySuite(options: Options, progress: Progress): Promise<Report> {
  const machine = describeMachine()
  const figures = await withDataDirectory(options.data, async (directory) => {
    const server = await startBenchServer(directory)
    try {
      const { delaysMs } = await measureVisibility(server.api, {
        count: SESSIONS,
        pauseMs: PAUSE_MS,
        seed: 103,
        onProgress: (share) => progress.show('visible after the acknowledgement, idle', share),
      })
      return visibleIdleFigures(delaysMs)
    } finally {
      await server.stop()
    }
  })
  return { suite: 'visibility', machine, figures }
}

export function visibleIdleFigures(delaysMs: readonly number[]): Figure[] {
  return [
    {
      what: 'visible after the acknowledgement, idle, p50',
      figure: percentile(delaysMs, 0.5),
      unit: 'ms',
      target: targets.visibleIdleP50,
    },
    {
      what: 'visible after the acknowledgement, idle, p95',
      figure: percentile(delaysMs, 0.95),
      unit: 'ms',
      target: targets.visibleIdleP95,
    },
  ]
}
