import { join } from 'node:path'
import type { Api } from '../harness/api.ts'
import { sendQuery } from './send-query.ts'
import type { Query, Contender } from './contender.ts'
import { PythonEnvironment } from './python-environment.ts'

const EXPERIMENT = '0'
const python = new PythonEnvironment({ package: 'mlflow', version: '3.17.2', oldestPython: [3, 10] })

/** Started with `mlflow server`: SQLite, and its default number of workers. */
export const mlflow: Contender = {
  name: 'MLflow',
  acknowledgement: 'committed to SQLite, which waits for the disk',
  prepare: (progress) => python.prepare(progress),
  command: (directory, [port]) => ({
    command: python.interpreter,
    args: [
      '-m',
      'mlflow',
      'server',
      '--host=127.0.0.1',
      `--port=${port}`,
      `--backend-store-uri=sqlite:///${join(directory, 'mlflow.db')}`,
      `--artifacts-destination=${join(directory, 'artifacts')}`,
    ],
    environment: {
      MLFLOW_DISABLE_TELEMETRY: 'true',
      // Use the bundled prices. Otherwise spans wait while it fetches newer ones from the internet.
      MLFLOW_MODEL_CATALOG_URI: '',
    },
  }),
  headers: { 'x-mlflow-experiment-id': EXPERIMENT },
  ready: search(''),
  queries: {
    open: (traceId) => ({
      method: 'GET',
      path: `/api/3.0/mlflow/traces/get?trace_id=tr-${traceId}`,
      countOf: ({ trace }: { trace: { spans?: unknown[] } }) => trace.spans?.length ?? 0,
    }),
    list: () => search(''),
    listFailed: () => search("trace.status = 'ERROR'"),
    listOfUser: (user) => search(`metadata.\`mlflow.trace.user\` = '${user}'`),
    search: (word) => search(`trace.text ILIKE '%${word}%'`),
  },
  countSpans,
}

function search(filter: string): Query {
  const location = { type: 'MLFLOW_EXPERIMENT', mlflow_experiment: { experiment_id: EXPERIMENT } }
  return {
    method: 'POST',
    path: '/api/3.0/mlflow/traces/search',
    body: { locations: [location], max_results: 50, filter },
    countOf: ({ traces }: { traces?: unknown[] }) => traces?.length ?? 0,
  }
}

type Metrics = { data_points?: { values: { COUNT: number } }[] }

async function countSpans(api: Api): Promise<number> {
  const { count } = await sendQuery(api, {
    method: 'POST',
    path: '/api/3.0/mlflow/traces/metrics',
    body: {
      experiment_ids: [EXPERIMENT],
      view_type: 'SPANS',
      metric_name: 'span_count',
      aggregations: [{ aggregation_type: 'COUNT' }],
    },
    countOf: ({ data_points }: Metrics) => data_points?.[0]?.values.COUNT ?? 0,
  })
  return count
}
