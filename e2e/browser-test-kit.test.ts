import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readResults } from '../packages/playhead/src/report/read-results.ts'
import { startTestServer, type TestServer } from '../packages/server/test/test-server.ts'
import { chromiumOptions } from './chromium-options.ts'

const example = fileURLToPath(new URL('../examples/support-agent', import.meta.url))
const playwright = fileURLToPath(new URL('../node_modules/@playwright/test/cli.js', import.meta.url))

let server: TestServer
let folder: string

beforeAll(async () => {
  server = await startTestServer()
  folder = await mkdtemp(join(tmpdir(), 'playhead-browser-kit-'))
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

type Result = {
  status: string
  annotations: { type: string; description?: string }[]
  error?: { message: string }
}
type Report = { suites: { specs: { title: string; tests: { results: Result[] }[] }[] }[] }

async function runBrowserTests(
  environment: Record<string, string>,
  more: string[] = [],
): Promise<Map<string, Result>> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(?:VITEST|PLAYHEAD_|NODE_OPTIONS)/.test(name),
  )
  const env = {
    ...Object.fromEntries(inherited),
    NODE_OPTIONS: '--conditions=playhead-source',
    PLAYHEAD_CHROMIUM: chromiumOptions.executablePath,
    PLAYHEAD_RUN_DIR: join(folder, 'runs'),
    CHAT_PORT: String(await freePort()),
    ...environment,
  }
  const args = [playwright, 'test', '--reporter=json', '--output', join(folder, 'results'), ...more]
  const stdout = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { cwd: example, env, maxBuffer: 32 * 1024 * 1024 }, (_error, text) =>
      resolve(text),
    )
  })
  const { suites } = JSON.parse(stdout) as Report
  return new Map(
    suites.flatMap(({ specs }) => specs).map(({ title, tests }) => [title, tests[0]!.results[0]!]),
  )
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => probe.once('listening', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}

test('what an agent does behind a page is found from the browser test, and linked in its report', async () => {
  const results = await runBrowserTests({
    PLAYHEAD_ENDPOINT: server.url,
    PLAYHEAD_RUN_ID: 'browser',
    SUPPORT_AGENT_FAULT: 'customer_id',
  })
  const charged = results.get('tells a customer about both charges, from the right data')!
  const greeting = results.get('answers a greeting without looking up a customer')!
  expect([charged.status, greeting.status]).toEqual(['failed', 'passed'])

  const sessions = await server.sessions('limit=100&runId=browser')
  const told = sessions.map(({ name, endState, tools, test: of }) => ({
    name,
    endState,
    file: of?.file,
    tools,
  }))
  expect(told.toSorted((left, right) => left.name.localeCompare(right.name))).toEqual([
    {
      name: 'answers a greeting without looking up a customer',
      endState: 'success',
      file: 'chat.spec.ts',
      tools: ['classify_intent', 'write_reply', 'session_complete'],
    },
    {
      name: 'tells a customer about both charges, from the right data',
      endState: 'fail',
      file: 'chat.spec.ts',
      tools: ['classify_intent', 'extract_customer_id', 'fetch_customer_data'],
    },
  ])
  for (const [title, { annotations }] of results) {
    const session = sessions.find(({ name }) => name === title)!
    expect(annotations).toEqual([{ type: 'replay', description: `${server.url}/sessions/${session.id}` }])
  }
  const spec = (await readFile(join(example, 'e2e/chat.spec.ts'), 'utf8')).split('\n')
  const { entries } = await readResults([join(folder, 'runs')])
  expect(Object.fromEntries(entries.map((entry) => [entry.test.name, entry.location]))).toEqual(
    Object.fromEntries(
      [...results.keys()].map((title) => [
        title,
        {
          path: 'examples/support-agent/e2e/chat.spec.ts',
          line: spec.findIndex((line) => line.includes(`test('${title}'`)) + 1,
        },
      ]),
    ),
  )
})

test('without a server the recordings of both processes are one session', async () => {
  const results = await runBrowserTests({}, ['--grep', 'both charges'])
  expect([...results.values()].map(({ status, error }) => error?.message ?? status)).toEqual(['passed'])
})
