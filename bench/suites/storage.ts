import { join } from 'node:path'
import { startBenchServer } from '../server/bench-server.ts'
import { readColumnSizes } from './column-sizes.ts'
import { withDataDirectory } from '../harness/data-directory.ts'
import { diskPerSpan } from '../server/disk-per-span.ts'
import { fillStore } from '../server/fill-store.ts'
import { describeMachine } from '../harness/machine.ts'
import type { Options } from '../harness/options.ts'
import type { Progress } from '../harness/progress.ts'
import type { Figure, Report } from '../harness/report.ts'
import { waitForMerges } from '../server/wait-for-store.ts'
import { targets } from '../harness/targets.ts'
import { memoryOf } from '../server/usage-meter.ts'

const SMALLEST = 100_000

/** Measures stores of growing size: bytes on disk after merges, time to start, and memory. */
export async function runStorageSuite(options: Options, progress: Progress): Promise<Report> {
  const machine = describeMachine()
  const sizes = [...new Set([SMALLEST, Math.min(1_000_000, options.spans), options.spans])]
  const figures = await withDataDirectory(options.data, async (root) => {
    const all: Figure[] = []
    for (const spans of sizes)
      all.push(...(await measureSize(join(root, `storage-${spans}`), spans, progress)))
    return all
  })
  return { suite: 'storage', machine, figures }
}

async function measureSize(directory: string, spans: number, progress: Progress): Promise<Figure[]> {
  await fillStore(directory, spans, progress)
  const server = await startBenchServer(directory)
  try {
    const health = await waitForMerges(server.api, progress)
    const { bytes, note } = diskPerSpan(health, spans)
    const size = `${spans.toLocaleString('en-US')} spans`
    return [
      {
        what: `${size}: on disk per span, after merges`,
        figure: bytes,
        unit: 'bytes',
        target: targets.bytesPerSpan,
        note,
      },
      ...(await readColumnSizes(directory, spans)),
      { what: `${size}: on disk, total`, figure: (bytes * spans) / 1024 ** 2, unit: 'MB' },
      {
        what: `${size}: start to first response`,
        figure: server.firstResponseMs,
        unit: 'ms',
        target: targets.firstResponse,
      },
      {
        what: `${size}: memory after the last merge`,
        figure: memoryOf(server),
        unit: 'MB',
        note: 'memory used by merges is released gradually',
      },
    ]
  } finally {
    await server.stop()
  }
}
