import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { callTool, startScriptedModel, type Rule } from '@playhead/scripted-model'
import { startRecordingProxy } from '../recording-proxy.ts'
import { startTestServer } from '../test-server.ts'
import { seedRuns } from './seed.ts'

/**
 * Drives Claude Code against the MCP server, with a scripted model on loopback, and keeps what it sent and received:
 * `npm run drive-agent -- path/to/claude`, the binary of the npm package `@anthropic-ai/claude-code`.
 */
const binary = process.argv[2] ?? 'claude'
const QUESTION = 'What failed in the last day, why, and give me a test.'
const ANSWER = 'support failed: extract_customer_id returned null. The test is above.'
const turns = [
  ['find_sessions', { where: 'status:fail from:24h' }],
  ['explain_failure', { session: 'name:support status:fail' }],
  ['make_test', { session: 'name:support status:fail' }],
] as const
const result = fileURLToPath(new URL('../../../../fixtures/coding-agents/claude-code.json', import.meta.url))

/** Does what a model would do: one tool after the other, then an answer. Other requests, such as for a title, get a word. */
const script: Rule = ({ messages, tools, userText }) => {
  const called = messages
    .flatMap(({ toolCalls }) => toolCalls)
    .filter(({ name }) => name.startsWith('mcp__playhead__'))
  const isOurs = tools.length > 0 && (called.length > 0 || userText.includes(QUESTION))
  if (!isOurs) return 'ok'
  const next = turns[called.length]
  return next === undefined ? ANSWER : callTool(`mcp__playhead__${next[0]}`, next[1])
}

const folder = await mkdtemp(join(tmpdir(), 'playhead-agent-'))
const server = await startTestServer()
const { branches, ...runs } = seedRuns()
for (const { payload } of [...Object.values(runs), ...branches]) await server.postTraces(payload)
const proxy = await startRecordingProxy(server.url)
const model = await startScriptedModel(script)
try {
  const config = {
    mcpServers: {
      playhead: {
        type: 'stdio',
        command: process.execPath,
        args: [
          '--conditions=playhead-source',
          fileURLToPath(new URL('../../../playhead/src/cli/main.ts', import.meta.url)),
          'mcp',
        ],
        env: { PLAYHEAD_ENDPOINT: proxy.url },
      },
    },
  }
  await mkdir(join(folder, 'home'))
  await writeFile(join(folder, 'mcp.json'), JSON.stringify(config))
  const allowed = turns.map(([name]) => `mcp__playhead__${name}`).join(',')
  const agent = spawn(
    binary,
    [
      '-p',
      QUESTION,
      '--output-format',
      'json',
      '--strict-mcp-config',
      '--mcp-config',
      join(folder, 'mcp.json'),
      '--allowedTools',
      allowed,
    ],
    {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        HOME: join(folder, 'home'),
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'sk-scripted',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        // Whatever is not on loopback is refused.
        HTTPS_PROXY: 'http://127.0.0.1:9',
        NO_PROXY: '127.0.0.1,localhost',
      },
    },
  )
  const [output, problems] = await Promise.all([text(agent.stdout), text(agent.stderr)])
  process.stdout.write(`${output}\n${problems}\n`)
  const answers = model.requests.flatMap(({ messages }) => messages.flatMap(({ toolResults }) => toolResults))
  const exchange = proxy.calls
    .filter(({ path }) => path.startsWith('/mcp'))
    .map(({ body, headers }) => ({
      headers: Object.fromEntries(
        Object.entries(headers).filter(([name]) => name.startsWith('mcp-') || name === 'accept'),
      ),
      body: JSON.parse(body.toString()) as unknown,
    }))
  const said = [...new Map(answers.map(({ id, result: got }) => [id, got])).values()]
  const {
    result: answer,
    num_turns: turnCount,
    permission_denials: denied,
  } = JSON.parse(output) as {
    result: string
    num_turns: number
    permission_denials: unknown[]
  }
  await mkdir(join(result, '..'), { recursive: true })
  await writeFile(
    result,
    `${JSON.stringify({ question: QUESTION, mcp: exchange, results: said, answer, turns: turnCount, denied }, null, 2)}\n`,
  )
} finally {
  await model.stop()
  proxy.stop()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
}
