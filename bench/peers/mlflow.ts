import { join } from 'node:path'
import type { Api } from '../api.ts'
import { ask } from './ask.ts'
import type { Ask, Contender } from './contender.ts'
import { PythonEnvironment } from './python-environment.ts'

const EXPERIMENT = '0'
const python = new PythonEnvironment({ package: 'mlflow', version: '3.17.2', oldestPython: [3, 10] })

/** As `mlflow server` starts it: SQLite, and as many workers as it chooses. */
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
      // The prices that came with it: otherwise spans wait while it asks the internet for newer ones.
      MLFLOW_MODEL_CATALOG_URI: '',
    },
  }),
  headers: { 'x-mlflow-experiment-id': EXPERIMENT },
  ready: search(''),
  questions: {
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

function search(filter: string): Ask {
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
  const { count } = await ask(api, {
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
