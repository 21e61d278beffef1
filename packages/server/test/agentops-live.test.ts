import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import type { Session, Step } from '@playhead/model'
import { callTool, startScriptedModel, type ScriptedModel } from '@playhead/scripted-model'
import { npmScript } from './agentops-npm-script.ts'
import { replay } from './agentops-recording.ts'
import { installBeside, installNode, installPython, unlessUnreachable } from './installed-packages.ts'
import { startRecordingProxy, type RecordingProxy } from './recording-proxy.ts'
import { startTestServer, type TestServer } from './test-server.ts'

/** 0.4.21 is the last of its line; with an OpenTelemetry much newer than itself it sends nothing anywhere. */
const openTelemetry = ['api', 'sdk', 'exporter-otlp-proto-http', 'exporter-otlp-proto-grpc'].map(
  (part) => `opentelemetry-${part}==1.36.0`,
)
const installed = await unlessUnreachable(async () => {
  const [newer, older, npm] = await Promise.all([
    installPython('agentops-0.4', ['agentops==0.4.21', 'openai==1.102.0', ...openTelemetry]),
    installPython('agentops-0.3', ['agentops==0.3.26', 'openai==1.59.9']),
    installNode('agentops-npm', ['agentops@0.1.0', '@openai/agents@0.0.1']),
  ])
  const v0312 = await installBeside(older, 'agentops-0.3.12', 'agentops==0.3.12')
  const v026 = await installBeside(older, 'agentops-0.2.6', 'agentops==0.2.6')
  return { newer, older, npm, v0312, v026 }
})

const script = (name: string) => fileURLToPath(new URL(`./agentops-scripts/${name}`, import.meta.url))
const key = '22222222-2222-4222-8222-222222222222'
const answer = 'You were charged once.'

/** Longer than any of these programs runs. */
const slowToken = (path: string) => (path === '/v3/auth/token' ? 60_000 : 0)

describe.skipIf(installed === undefined)('unmodified SDKs', async () => {
  if (installed === undefined) return
  const { newer, older, npm, v0312, v026 } = installed
  const folder = mkdtempSync(join(tmpdir(), 'playhead-sdks-'))
  const server = await startTestServer({ PLAYHEAD_GRPC_PORT: '0' })
  const guarded = await startTestServer({ PLAYHEAD_AUTH: 'on', PLAYHEAD_PASSWORD: 'correct horse' })
  const model: ScriptedModel = await startScriptedModel(({ tools, toolResults }) => ({
    ...(tools.length > 0 && toolResults.length === 0
      ? callTool('look_up', { customer: 'c_42' })
      : { text: answer }),
    usage: { input: 120, output: 35 },
  }))
  const children: ChildProcess[] = []
  const proxies: RecordingProxy[] = []
  const nodeProgram = startNode()
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL')
    for (const proxy of proxies) proxy.stop()
    await Promise.all([server.stop(), guarded.stop(), model.stop()])
    rmSync(folder, { recursive: true, force: true })
  })

  /** The environment of an SDK. Requests to anything but loopback meet a closed port. */
  function environment(url: string): Record<string, string> {
    return {
      PATH: process.env.PATH ?? '',
      HTTPS_PROXY: 'http://127.0.0.1:9',
      NO_PROXY: '127.0.0.1,localhost',
      NODE_USE_ENV_PROXY: '1',
      AGENTOPS_API_KEY: key,
      AGENTOPS_API_ENDPOINT: url,
      AGENTOPS_EXPORTER_ENDPOINT: `${url}/v1/traces`,
      AGENTOPS_APP_URL: url,
      AGENTOPS_LOGGING_TO_FILE: 'false',
      OPENAI_API_KEY: 'none',
      OPENAI_BASE_URL: `${model.url}/v1`,
      SERVER: url,
    }
  }

  /** Runs a program and returns its output without colors. */
  function run(program: string, args: string[], variables: Record<string, string>): Promise<string> {
    const child = spawn(program, args, { cwd: folder, env: variables })
    children.push(child)
    return new Promise((resolve, reject) => {
      let output = ''
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
      child.once('error', reject)
      child.once('close', (code) => {
        // eslint-disable-next-line no-control-regex
        const text = output.replaceAll(/\x1b\[[0-9;]*m/g, '')
        if (code === 0) resolve(text)
        else reject(new Error(`${args[0]} ended with ${code}:\n${text}`))
      })
    })
  }

  function startNode(): ChildProcess {
    const file = join(npm, 'agent.mjs')
    writeFileSync(file, npmScript)
    const child = spawn(process.execPath, [file], { cwd: npm, env: environment(server.url) })
    children.push(child)
    return child
  }

  async function startProxy(target: TestServer, delayMs?: (path: string) => number): Promise<string> {
    const proxy = await startRecordingProxy(target.url, delayMs)
    proxies.push(proxy)
    return proxy.url
  }

  function callsOf(url: string) {
    return proxies.find((proxy) => proxy.url === url)!.calls
  }

  async function sessionWith(tag: string, project = 'default'): Promise<Session> {
    const [found, ...others] = await server.sessions(`project=${project}&tag=${tag}`)
    expect(others).toEqual([])
    return server.session(found!.id, `project=${project}&payloads=all`)
  }

  /** Sends the same bytes into another project and expects the same session. */
  async function expectSameWhenReplayed(live: Session, url: string): Promise<void> {
    const project = `again-${live.session.id.slice(0, 8)}`
    await server.services.registry.createProject({ id: project, name: project })
    const sent = callsOf(url).filter(({ method }) => method !== 'GET')
    await replay(sent, server.url, { 'x-playhead-project': project })
    const again = await server.session(live.session.id, `project=${project}&payloads=all`)
    expect({ ...again, session: { ...again.session, url: '' } }).toEqual({
      ...live,
      session: { ...live.session, url: '' },
    })
  }

  test.concurrent('Python 0.4.21: every field matches what the program did', async () => {
    const url = await startProxy(server)
    const output = await run(newer, [script('agentops_0_4.py')], environment(url))

    const live = await sessionWith('python-0.4')
    const { session, steps } = live
    expect(session).toMatchObject({
      name: 'support',
      endState: 'fail',
      endStateReason: 'customer is None',
      tags: ['live', 'python-0.4'],
      metadata: { plan: 'pro' },
      usage: { input: 120, output: 35, total: 155 },
      models: ['gpt-4o-mini'],
      agents: ['billing'],
      tools: ['lookup', 'refund'],
      errorCount: 1,
    })
    // The call at $0.15 and $0.60 per million tokens, plus the cost that the program reports for its tool.
    expect(session.cost).toBeCloseTo(0.000039 + 0.05, 9)
    expect(outline(steps)).toEqual([
      'workflow support',
      '  agent billing',
      '    guardrail polite',
      '    workflow plan',
      '      llm gpt-4o-mini',
      '    action lookup',
      '    action refund · ValueError: customer is None',
    ])
    expect(stepOf(steps, 'lookup').tool).toMatchObject({
      arguments: 'c_42',
      result: { customer: 'c_42', invoices: 2 },
    })
    expect(stepOf(steps, 'refund').error!.stack).toContain('raise ValueError("customer is None")')
    expect(stepOf(steps, 'polite').guardrail).toEqual({ name: 'polite', isTriggered: false })
    expect(stepOf(steps, 'gpt-4o-mini').messages).toMatchObject([
      { role: 'user', parts: [{ text: 'I was charged twice' }] },
      { role: 'assistant', parts: [{ text: answer }] },
    ])
    expectLogsInStep(steps)
    const link = /Session Replay for support trace: (\S+)/.exec(output)?.[1]
    expect(link).toBe(`${url}/sessions?trace_id=${session.id}`)
    const page = await fetch(link!)
    expect([page.status, page.url]).toEqual([200, `${url}/sessions/${session.id}`])
    await expectSameWhenReplayed(live, url)
    const check = await run(newer, [script('validate_0_4.py'), session.id], environment(server.url))
    expect(check).toContain('Found 7 span(s) in trace')
    expect(check).toContain('Total tokens: 155')
    expect(check).toContain('Total cost: $0.0500390')
  })

  /** Each line is in the step that printed it, or right after the step that it describes. */
  function expectLogsInStep(steps: readonly Step[]): void {
    const logs = steps[0]!.logs!
    expect(logs.map(({ severity, body }) => [severity, body])).toEqual([
      ['info', 'looking up c_42'],
      ['info', 'the refund failed'],
    ])
    const { offsetMs, durationMs } = stepOf(steps, 'lookup')
    expect(logs[0]!.offsetMs).toBeGreaterThanOrEqual(offsetMs - 1)
    expect(logs[0]!.offsetMs).toBeLessThanOrEqual(offsetMs + durationMs! + 1)
    expect(logs[1]!.offsetMs).toBeGreaterThanOrEqual(stepOf(steps, 'refund').offsetMs - 1)
  }

  test.concurrent('Python 0.4.21: a program that exits before its token arrives loses nothing', async () => {
    const url = await startProxy(server, slowToken)
    await run(newer, [script('short_0_4.py')], environment(url))

    const sent = callsOf(url)
    expect(sent.filter(({ headers }) => headers.authorization !== undefined)).toEqual([])
    const { session, steps } = await sessionWith('short')
    expect(session.endState).toBe('success')
    expect(outline(steps)).toEqual(['workflow default', '  action hurry'])
    expect(steps[0]!.logs).toMatchObject([{ body: 'no time' }])
  })

  test.concurrent('Python 0.4.21 and 0.3.26: a wrong key is refused with a message that the SDK prints, and nothing is stored', async () => {
    const [newOutput, oldOutput] = await Promise.all([
      run(newer, [script('short_0_4.py')], environment(guarded.url)),
      run(older, [script('agentops_0_3.py')], environment(guarded.url)),
    ])

    expect(newOutput).toContain('AGENTOPS_API_KEY is unknown to this server')
    expect(oldOutput).toContain(`API server: invalid API key: ${key}`)
    const { secret } = await guarded.services.registry.createKey({
      project: 'default',
      name: 'r',
      scopes: ['read'],
    })
    expect(await readAll(guarded, secret)).toEqual([])
  })

  test.concurrent('Python 0.4.21, auth on: spans sent before the token carry the key in a header', async () => {
    const { registry } = guarded.services
    await registry.createProject({ id: 'shop', name: 'Shop' })
    const { secret } = await registry.createKey({
      project: 'shop',
      name: 'agent',
      scopes: ['ingest', 'read'],
      format: 'uuid',
    })
    const url = await startProxy(guarded, slowToken)
    await run(newer, [script('short_0_4.py')], {
      ...environment(url),
      AGENTOPS_API_KEY: secret,
      OTEL_EXPORTER_OTLP_HEADERS: `x-api-key=${secret}`,
    })

    expect(await readAll(guarded, secret)).toMatchObject([
      { name: 'default', endState: 'success', tools: ['hurry'], tags: ['short'] },
    ])
  })

  async function readAll(from: TestServer, secret: string): Promise<unknown> {
    const response = await from.request('/api/sessions', { headers: { authorization: `Bearer ${secret}` } })
    return ((await response.json()) as { sessions: unknown }).sessions
  }

  test.concurrent.each([
    ['0.3.26', {}, 'Session Stats - Duration: \\S+ \\| Cost: \\$0\\.004539 '],
    ['0.3.12', { PYTHONPATH: v0312 }, 'Duration: \\S+ \\| Cost: \\$0\\.004539'],
  ])('Python %s: every field is what the program did', async (_version, variables, stats) => {
    const url = await startProxy(server)
    const output = await run(older, [script('agentops_0_3.py')], { ...environment(url), ...variables })

    const link = /Session Replay: https:\/\/app\.agentops\.ai(\S+)/.exec(output)![1]!
    const page = await server.request(link)
    const live = await server.session(new URL(page.url).pathname.replace('/sessions/', ''))
    const { session, steps } = live
    expect([page.status, page.url]).toEqual([200, session.url])
    expect(session).toMatchObject({
      name: 'qa',
      endState: 'success',
      endStateReason: 'all done',
      usage: { input: 1120, output: 235, total: 1355 },
      models: ['gpt-4o-mini', 'gpt-4o'],
      agents: ['qa'],
      tools: ['search', 'classify', 'refund', 'note', 'mail'],
      errorCount: 1,
    })
    expect(session.tags.toSorted()).toEqual(['live', 'python-0.3'])
    // 120 and 35 tokens of gpt-4o-mini, 1000 and 200 of gpt-4o.
    expect(session.cost).toBeCloseTo(0.000039 + 0.0045, 9)
    expect(outline(steps)).toEqual([
      'workflow session',
      '  agent qa',
      '    llm gpt-4o-mini',
      '  action search',
      '  action classify',
      "  action refund · KeyError: 'customer'",
      '  action note',
      '  llm gpt-4o',
      '  action mail',
    ])
    expect(stepOf(steps, 'search').tool).toMatchObject({
      arguments: { query: 'invoices' },
      result: ['invoices', 'found'],
    })
    expect(stepOf(steps, 'refund').error!.stack).toContain('raise KeyError("customer")')
    expect(stepOf(steps, 'note').logs).toMatchObject([{ body: 'written by hand' }])
    expect(output).toMatch(new RegExp(stats))
    await expectSameWhenReplayed(live, url)
  })

  test.concurrent('Python 0.2.6: every field matches what the program did', async () => {
    const output = await run(older, [script('agentops_0_2.py')], {
      ...environment(server.url),
      PYTHONPATH: v026,
    })

    const { session, steps } = await sessionWith('python-0.2')
    expect(session).toMatchObject({ endState: 'fail', endStateReason: 'no refund', cost: 0.000039 })
    expect(outline(steps).sort()).toEqual([
      '  action classify',
      '  action note',
      '  action refund · ValueError: no money left',
      '  llm gpt-4o-mini',
      'workflow session',
    ])
    expect(stepOf(steps, 'refund')).toMatchObject({
      tool: { arguments: { customer: 'c_42' } },
      error: { stack: expect.stringContaining('raise ValueError("no money left")') as string },
    })
    expect(output).toContain("This run's cost $0.000039")
  })

  test.concurrent("OpenTelemetry's Python SDK: gRPC and HTTP give the same session", async () => {
    for (const id of ['by-http', 'by-grpc']) await server.services.registry.createProject({ id, name: id })
    await run(newer, [script('opentelemetry_both_ways.py')], {
      ...environment(server.url),
      HTTP_URL: server.url,
      GRPC_URL: `http://${server.grpcAddress}`,
    })

    const [http, grpc] = await Promise.all(
      ['by-http', 'by-grpc'].map(async (project) => {
        const [found] = await server.sessions(`project=${project}`)
        const { session, steps } = await server.session(found!.id, `project=${project}&payloads=all`)
        return { ...session, url: '', steps }
      }),
    )
    expect(grpc).toEqual(http)
    expect(outline(http!.steps)).toEqual([
      'other handle',
      '  llm gpt-4o-mini',
      '  action refund · ValueError: customer is None',
    ])
    expect(http).toMatchObject({ threadId: 'thread-1', userId: 'u1', environment: 'test', cost: 0.000039 })
    expect(stepOf(http!.steps, 'gpt-4o-mini').logs).toMatchObject([
      { severity: 'WARN', body: 'the answer is late' },
    ])
  })

  test.concurrent('npm 0.1.0: steps have parents, counts and times; an unknown model has no price, rather than a price of 0', async () => {
    const find = async () =>
      (await server.sessions()).find(({ stepCount, agents }) => stepCount === 5 && agents[0] === 'Billing')
    await expect.poll(find, { interval: 500 }).toBeDefined()
    nodeProgram.kill('SIGKILL')

    const { session, steps } = await server.session((await find())!.id)
    expect(session).toMatchObject({
      name: 'Billing',
      endState: 'success',
      usage: { input: 240, output: 70, total: 310 },
      cost: null,
      unpricedModels: ['unknown model'],
      tools: ['look_up'],
    })
    expect(outline(steps)).toEqual([
      'workflow Agent workflow',
      '  agent Billing',
      '    llm llm',
      '    action look_up',
      '    llm llm',
    ])
    expect(steps[0]!.offsetMs).toBe(0)
    expect(stepOf(steps, 'look_up').tool).toMatchObject({
      arguments: { customer: 'c_42' },
      result: '2 invoices of c_42',
    })
  })
})

function outline(steps: readonly Step[]): string[] {
  const depths = new Map<string, number>()
  return steps.map((step) => {
    const depth = step.parentId === null ? 0 : (depths.get(step.parentId) ?? -1) + 1
    depths.set(step.id, depth)
    const error = step.error === undefined ? '' : ` · ${step.error.type}: ${step.error.message}`
    return `${'  '.repeat(depth)}${step.kind} ${step.name}${error}`
  })
}

function stepOf(steps: readonly Step[], name: string): Step {
  return steps.find((step) => step.name === name)!
}
