import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { waitForMerges } from '../server/wait-for-store.ts'
import type { Query, Contender } from './contender.ts'

const entry = fileURLToPath(new URL('../../packages/server/src/main.ts', import.meta.url))
const manifest = new URL('../../packages/playhead/package.json', import.meta.url)

export const playhead: Contender = {
  name: 'Playhead',
  acknowledgement: 'written to its log and synced to disk',
  prepare: () =>
    Promise.resolve({ version: (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version }),
  command: (directory, [port]) => ({
    command: process.execPath,
    args: ['--conditions=playhead-source', entry],
    environment: {
      PLAYHEAD_DATA: directory,
      PLAYHEAD_PORT: String(port),
      PLAYHEAD_GRPC_PORT: 'off',
      PLAYHEAD_DEMO: 'off',
    },
  }),
  ready: list(''),
  queries: {
    open: (traceId) => ({
      method: 'GET',
      path: `/api/sessions/${traceId}`,
      countOf: ({ steps }: { steps: unknown[] }) => steps.length,
    }),
    list: () => list(''),
    listFailed: () => list('&status=fail'),
    listOfUser: (user) => list(`&user=${user}`),
    search: (word) => list(`&text=${word}`),
  },
  async countSpans(api) {
    const { disk } = await api.health()
    return disk.tables.find(({ name }) => name === 'steps')?.rows ?? 0
  },
  waitForDisk: waitForMerges,
}

function list(filter: string): Query {
  return {
    method: 'GET',
    path: `/api/sessions?limit=50${filter}`,
    countOf: ({ sessions }: { sessions: unknown[] }) => sessions.length,
  }
}
