import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Session, SessionSummary } from '@playhead/model'
import type { SpawnedServer } from '../../packages/server/test/spawned-server.ts'
import type { Emitter } from './emitter.ts'
import { installNode, installPython } from './install.ts'
import {
  byContent,
  question,
  scenarioNames,
  scenarioOf,
  startWeatherModel,
  truthOf,
  type Facts,
  type ScenarioName,
} from './weather.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
/** Importing a framework takes a few seconds, or minutes on a machine that has no processor to spare. */
const PROGRAM_TIMEOUT_MS = 600_000

export type Outcome = {
  /** What the program printed. */
  output: string
  runs: { scenario: ScenarioName; truth: Facts; shown: Facts }[]
}

/** Installs an emitter, runs its program against a model and a project of its own, and reads what is shown. */
export async function runEmitter(emitter: Emitter, server: SpawnedServer): Promise<Outcome> {
  const { name, without = {} } = emitter
  const asked = scenarioNames.filter((scenario) => !(scenario in without))
  await server.request('/api/projects', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: name, name }),
  })
  const [door, model] = await Promise.all([openDoor(server.url, name), startWeatherModel(emitter.rules)])
  try {
    const questions = Object.fromEntries(asked.map((scenario) => [scenario, question(scenario)]))
    const output = await runProgram(emitter, {
      MODEL_URL: model.url,
      PLAYHEAD_URL: door.url,
      QUESTIONS: JSON.stringify(questions),
    })
    const sessions = await sessionsOf(server, name)
    return {
      output,
      runs: asked.map((scenario) => ({
        scenario,
        truth: truthOf(scenario, model.requests, emitter),
        shown: factsOf(sessions.filter((session) => scenarioOf(JSON.stringify(session)) === scenario)),
      })),
    }
  } finally {
    door.close()
    await model.stop()
  }
}

/** Programs know only a URL, so this one leads into the project of the emitter. */
async function openDoor(target: string, project: string): Promise<{ url: string; close(): void }> {
  const kept = process.env.PLAYHEAD_KEEP_REQUESTS
  let count = 0
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    if (kept !== undefined)
      keep(kept, `${project}-${(count += 1)}`, incoming.url ?? '', Buffer.concat(chunks))
    const { method = 'GET', url = '/', headers } = incoming
    const passed = sendRequest(
      `${target}${url}`,
      { method, headers: { ...headers, 'x-playhead-project': project } },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      },
    )
    passed.on('error', () => outgoing.destroy())
    passed.end(Buffer.concat(chunks))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function keep(place: string, name: string, path: string, body: Buffer): void {
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, `${name}${path.replaceAll(/\W+/g, '_')}`), body)
}

async function runProgram({ name, language, packages, program }: Emitter, variables: Record<string, string>) {
  const home = mkdtempSync(join(tmpdir(), 'playhead-emitter-'))
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    PYTHONDONTWRITEBYTECODE: '1',
    // Requests to anything but loopback meet a closed port.
    HTTPS_PROXY: 'http://127.0.0.1:9',
    HTTP_PROXY: 'http://127.0.0.1:9',
    NO_PROXY: '127.0.0.1,localhost',
    NODE_USE_ENV_PROXY: '1',
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: `${variables.MODEL_URL}/v1`,
    ANTHROPIC_API_KEY: 'none',
    ANTHROPIC_BASE_URL: variables.MODEL_URL!,
    GOOGLE_API_KEY: 'none',
    ...variables,
  }
  try {
    if (language === 'python') {
      const python = await installPython(name, packages)
      const variables = { ...env, PYTHONPATH: join(folder, 'python'), PYTHONSAFEPATH: '1' }
      return await start(python, [join(folder, 'python', `${program}.py`)], { env: variables, cwd: home })
    }
    const modules = await installNode(name, packages)
    cpSync(join(folder, 'node'), modules, { recursive: true })
    return await start(process.execPath, [join(modules, `${program}.mjs`)], { env, cwd: home })
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

function start(
  command: string,
  args: string[],
  options: { env: Record<string, string>; cwd: string },
): Promise<string> {
  const child = spawn(command, args, {
    ...options,
    timeout: PROGRAM_TIMEOUT_MS,
    // CrewAI catches SIGTERM and exits with 0, as if it had answered everything.
    killSignal: 'SIGKILL',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return new Promise((resolve, reject) => {
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0
        ? resolve(output)
        : reject(new Error(`${args[0]} ended with ${code}:\n${output.slice(-4000)}`)),
    )
  })
}

async function sessionsOf(server: SpawnedServer, project: string): Promise<Session[]> {
  const list = (await server.read(`/api/sessions?limit=1000&project=${project}`)) as {
    sessions: SessionSummary[]
  }
  return Promise.all(list.sessions.map(({ id }) => server.session(id, `payloads=all&project=${project}`)))
}

function factsOf(sessions: readonly Session[]): Facts {
  const heads = sessions.map(({ session }) => session)
  const sum = (count: (head: SessionSummary) => number | null | undefined) =>
    heads.reduce((total, head) => total + (count(head) ?? 0), 0)
  const actions = sessions.flatMap(({ steps }) => steps).filter(({ kind }) => kind === 'action')
  const cost = sum((head) => head.cost)
  return {
    sessions: heads.length,
    calls: sum((head) => head.llmCallCount),
    usage: {
      input: sum((head) => head.usage.input),
      output: sum((head) => head.usage.output),
      cacheRead: sum((head) => head.usage.cacheRead),
      cacheWrite: sum((head) => head.usage.cacheWrite),
    },
    cost: heads.every((head) => head.cost === null) ? null : Math.round(cost * 1e9) / 1e9,
    tools: actions
      .map((step) => ({
        name: step.tool?.name ?? step.name,
        arguments: step.input ?? null,
        result: step.status === 'ok' ? (step.output ?? null) : null,
        error: step.error?.message ?? null,
      }))
      .sort(byContent),
    errors: sum((head) => head.errorCount),
    endState: [...new Set(heads.map((head) => head.endState))].join(', '),
    preview: heads.map((head) => head.inputPreview ?? '').join(' | '),
    agents: [...new Set(heads.flatMap((head) => head.agents))],
  }
}
