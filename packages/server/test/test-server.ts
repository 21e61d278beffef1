import { rm } from 'node:fs/promises'
import type { Session, SessionSummary, Step } from '@playhead/model'
import { readConfig, type Config } from '../src/process/config.ts'
import { startServer, type RunningServer } from '../src/process/start-server.ts'
import { newDataDirectory } from './empty-store.ts'

export type TestServer = RunningServer & {
  dataDirectory: string
  reports: string[]
  /** Sends a request to the server; `json` becomes its body. */
  request(
    path: string,
    options?: Omit<RequestInit, 'headers'> & { json?: unknown; headers?: Record<string, string> },
  ): Promise<Response>
  /** Posts OTLP traces as JSON and expects success. */
  postTraces(payload: unknown): Promise<unknown>
  sessions(query?: string): Promise<SessionSummary[]>
  session(id: string, query?: string): Promise<Session>
  step(id: string, stepId: string): Promise<Step>
}

/** Starts a real server on a free port with its own store. */
export async function startTestServer(
  environment: Record<string, string> = {},
  change: Partial<Config> = {},
): Promise<TestServer> {
  const dataDirectory = environment.PLAYHEAD_DATA ?? (await newDataDirectory())
  const config = readConfig({
    PLAYHEAD_PORT: '0',
    PLAYHEAD_DEMO: 'off',
    ...environment,
    PLAYHEAD_DATA: dataDirectory,
  })
  if ('problem' in config) throw new Error(config.problem)
  const reports: string[] = []
  const server = await startServer({ ...config, ...change }, (line) => reports.push(line))
  const request: TestServer['request'] = (path, { json, ...options } = {}) =>
    fetch(`${server.url}${path}`, {
      ...options,
      ...(json !== undefined && { method: options.method ?? 'POST', body: JSON.stringify(json) }),
      headers: { ...(json !== undefined && { 'content-type': 'application/json' }), ...options.headers },
    })
  const get = async (path: string) => {
    const response = await request(path)
    if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
  return {
    ...server,
    dataDirectory,
    reports,
    request,
    async postTraces(payload) {
      const response = await request('/v1/traces', { json: payload })
      if (!response.ok) throw new Error(`POST /v1/traces: ${response.status} ${await response.text()}`)
      return response.json()
    },
    sessions: async (query = 'limit=1000') =>
      ((await get(`/api/sessions?${query}`)) as { sessions: SessionSummary[] }).sessions,
    session: async (id, query = 'payloads=all') => (await get(`/api/sessions/${id}?${query}`)) as Session,
    step: async (id, stepId) => (await get(`/api/sessions/${id}/steps/${stepId}`)) as Step,
    async stop() {
      await server.stop()
      if (environment.PLAYHEAD_DATA === undefined) await rm(dataDirectory, { recursive: true, force: true })
    },
  }
}
