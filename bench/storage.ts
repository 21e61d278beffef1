import { join } from 'node:path'
import type { Health } from './api.ts'
import { startBenchServer } from './bench-server.ts'
import { readColumnSizes } from './column-sizes.ts'
import { withDataDirectory } from './data-directory.ts'
import { fillStore } from './fill-store.ts'
import { describeMachine } from './machine.ts'
import type { Options } from './options.ts'
import type { Progress } from './progress.ts'
import type { Figure, Report } from './report.ts'
import { waitForMerges } from './settle.ts'
import { targets } from './targets.ts'
import { memoryOf } from './usage-meter.ts'

const SMALLEST = 100_000

/** Bytes on disk after merges, and what it takes to have such a store open, for stores of growing size. */
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
    const [steps, sessions] = [bytesOf(health, 'steps'), bytesOf(health, 'sessions')]
    const size = `${spans.toLocaleString('en-US')} spans`
    return [
      {
        what: `${size}: on disk per span, after merges`,
        figure: (steps + sessions) / spans,
        unit: 'bytes',
        target: targets.bytesPerSpan,
        note: `${(steps / spans).toFixed(0)} of steps, ${(sessions / spans).toFixed(0)} of sessions`,
      },
      ...(await readColumnSizes(directory, spans)),
      { what: `${size}: on disk in all`, figure: (steps + sessions) / 1024 ** 2, unit: 'MB' },
      {
        what: `${size}: start to first answer`,
        figure: server.firstAnswerMs,
        unit: 'ms',
        target: targets.firstAnswer,
      },
      {
        what: `${size}: memory after the last merge`,
        figure: memoryOf(server),
        unit: 'MB',
        note: 'what merges used is given back bit by bit',
      },
    ]
  } finally {
    await server.stop()
  }
}

function bytesOf({ disk }: Health, table: string): number {
  return disk.tables.find(({ name }) => name === table)?.bytes ?? 0
}
