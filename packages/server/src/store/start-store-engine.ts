import type { DamagedFiles } from '../log/damaged-files.ts'
import { startEngine, type EngineProcess } from './engine/start-engine.ts'
import { restoreDefinitions, restoreRowCounts } from './table-definitions.ts'

type Settings = {
  /** Folder of the embedded engine. */
  path: string
  /** Where damaged definitions of tables are kept. */
  damaged?: DamagedFiles
  report: (line: string) => void
}

/** An engine that was told to open its folder, which takes a while. */
export type StartingEngine = { started: Promise<EngineProcess> }

/** Starts the embedded engine. Before it opens its folder, damaged definitions of tables in it are replaced by their copies. */
export async function startStoreEngine({ path, damaged, report }: Settings): Promise<StartingEngine> {
  if (damaged !== undefined) {
    await restoreDefinitions(path, damaged)
    await restoreRowCounts(path, damaged)
  }
  const started = startEngine({ path, report })
  // Whoever waits for it hears of it.
  started.catch(() => undefined)
  return { started }
}
