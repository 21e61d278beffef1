import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Those that take most of the processor. One that begins last keeps a single core busy while the others have nothing left to do. */
const slowest = [
  'clients/python/python.test.ts',
  'e2e/looks.test.ts',
  'examples/support-agent/fork.test.ts',
  'packages/playhead/test/testing/runners.test.ts',
  'packages/playhead/test/cassettes/to-test.test.ts',
  'examples/rerun.test.ts',
  'e2e/sessions-list.test.ts',
  'e2e/replay.test.ts',
  'e2e/pages.test.ts',
  'e2e/replay-large.test.ts',
  'e2e/run-from-here.test.ts',
  'packages/server/test/agentops-live.test.ts',
  'packages/server/test/restore.test.ts',
  'packages/server/test/maintenance.test.ts',
  'packages/server/test/large-requests.test.ts',
  'packages/server/test/joined-traces.test.ts',
  'packages/server/test/slow-clients.test.ts',
]

/** Begins with the slowest files. Vitest knows them only after a first run. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = slowest.findIndex((path) => moduleId.endsWith(path))
      return index === -1 ? slowest.length : index
    }
    return (await super.sort(files)).toSorted((left, right) => rank(left) - rank(right))
  }
}
