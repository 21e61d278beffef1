import type { Api } from '../harness/api.ts'
import type { Query, Contender } from './contender.ts'
import { PythonEnvironment } from './python-environment.ts'
import { sendQuery } from './send-query.ts'

const python = new PythonEnvironment({
  package: 'arize-phoenix',
  version: '20.26.1',
  oldestPython: [3, 10],
})

/** Started with `phoenix serve`: SQLite in its working directory. */
export const phoenix: Contender = {
  name: 'Phoenix',
  acknowledgement: 'in a queue in memory, to be stored later (in SQLite, without waiting for the disk)',
  prepare: (progress) => python.prepare(progress),
  command: (directory, [port, grpcPort]) => ({
    command: python.interpreter,
    args: ['-m', 'phoenix.server.main', 'serve'],
    environment: {
      PHOENIX_HOST: '127.0.0.1',
      PHOENIX_PORT: String(port),
      PHOENIX_GRPC_PORT: String(grpcPort),
      PHOENIX_WORKING_DIR: directory,
      PHOENIX_TELEMETRY_ENABLED: 'false',
      PHOENIX_ALLOW_EXTERNAL_RESOURCES: 'false',
    },
  }),
  ready: list(''),
  queries: {
    open: (traceId) => ({
      method: 'GET',
      path: `/v1/projects/default/spans?limit=1000&trace_id=${traceId}`,
      countOf: ({ data }: { data: unknown[] }) => data.length,
    }),
    list: () => list(''),
    listFailed: () => list('error_count > 0'),
    listOfUser: (user) => list(`user.id == '${user}'`),
    search: {
      none: 'a filter on traces covers the input and output of the first span and some fields of the others, but not the text of all spans',
    },
  },
  countSpans,
}

function list(filter: string): Query {
  const condition = filter === '' ? '' : `&filter=${encodeURIComponent(filter)}`
  return {
    method: 'GET',
    path: `/v1/projects/default/traces?limit=50${condition}`,
    countOf: ({ data }: { data: unknown[] }) => data.length,
  }
}

type Projects = { data: { projects: { edges: { node: { recordCount: number } }[] } } }

/** Phoenix caches the count of a time range, so each count uses a different one. */
async function countSpans(api: Api): Promise<number> {
  const end = new Date(Date.now() + 86_400_000).toISOString()
  const { count } = await sendQuery(api, {
    method: 'POST',
    path: '/graphql',
    body: { query: `{ projects { edges { node { recordCount(timeRange: { end: "${end}" }) } } } }` },
    countOf: ({ data }: Projects) => data.projects.edges.reduce((sum, { node }) => sum + node.recordCount, 0),
  })
  return count
}
