import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Contender, None } from './contender.ts'

const binaries = ['otelcol-contrib', 'otelcol']
const noQueries: None = { none: 'it forwards spans and has no queries' }

/** Only writes spans to a file: the minimum cost of receiving them. */
export const collector: Contender = {
  name: 'Collector',
  acknowledgement: 'in a buffer that is written to a file once a second',
  prepare: () => Promise.resolve(findCollector() ?? { missing: `no ${binaries.join(' or ')} on the PATH` }),
  command: (directory, [port]) => ({
    command: findCollector()!.command,
    args: ['--config', writeConfig(directory, port)],
    environment: {},
  }),
  ready: { method: 'POST', path: '/v1/traces', body: { resourceSpans: [] }, countOf: () => 0 },
  queries: {
    open: noQueries,
    list: noQueries,
    listFailed: noQueries,
    listOfUser: noQueries,
    search: noQueries,
  },
  countSpans: (_, directory) => {
    const file = fileOf(directory)
    const lines = existsSync(file) ? readFileSync(file, 'utf8') : ''
    return Promise.resolve(lines.split('"spanId"').length - 1)
  },
}

/** Finds a distribution with the file exporter; not every one has it. */
function findCollector(): { command: string; version: string } | undefined {
  for (const command of binaries) {
    const components = spawnSync(command, ['components'], { encoding: 'utf8' })
    if (components.status !== 0 || !/name: file$/m.test(components.stdout)) continue
    const version = spawnSync(command, ['--version'], { encoding: 'utf8' }).stdout.trim().split(' ').at(-1)
    return { command, version: version ?? 'unknown' }
  }
  return undefined
}

function fileOf(directory: string): string {
  return join(directory, 'spans.json')
}

function writeConfig(directory: string, port: number): string {
  mkdirSync(directory, { recursive: true })
  const config = {
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    exporters: { file: { path: fileOf(directory), append: true } },
    service: {
      telemetry: { metrics: { level: 'none' } },
      pipelines: { traces: { receivers: ['otlp'], exporters: ['file'] } },
    },
  }
  // JSON is valid YAML.
  const file = join(directory, 'collector.yaml')
  writeFileSync(file, JSON.stringify(config))
  return file
}
