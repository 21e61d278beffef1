import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { findAgent, loadConfig } from '../../src/rerun/load-config.ts'
import { makeProject, sessionOf } from './project.ts'

let remove: () => Promise<void> = async () => {}
afterEach(() => remove())

async function project(files: Record<string, string>): Promise<string> {
  const made = await makeProject(files)
  remove = made.remove
  return made.folder
}

const agentOf = (body: string) => `
import { defineConfig } from 'playhead'
${body}
export default defineConfig({ agents: { support: { run: () => answer() } } })
`

describe('the config', () => {
  test('is found above the folder, in TypeScript, and its functions stay outside of this process', async () => {
    const folder = await project({
      'playhead.config.ts': `
import { defineConfig } from 'playhead'
globalThis.wasLoaded = true
export default defineConfig({
  agents: {
    support: { run: (input: unknown) => input, env: { PLAN: 'pro' } },
    other: { run: () => 1, matches: ({ tags }) => tags.includes('vip') },
  },
  cassettes: 'tapes',
  allowSpawn: ['git'],
})`,
      'src/deep/file.txt': '',
    })
    expect(await loadConfig(`${folder}/src/deep`)).toEqual({
      file: `${folder}/playhead.config.ts`,
      folder,
      imports: [],
      agents: [
        { name: 'support', hasMatches: false, env: { PLAN: 'pro' } },
        { name: 'other', hasMatches: true },
      ],
      cassettes: 'tapes',
      allowSpawn: ['git'],
    })
    expect(globalThis).not.toHaveProperty('wasLoaded')
  })

  test('that is missing is written out, with the name of the agent', async () => {
    const folder = await project({})
    await expect(loadConfig(folder, { agent: 'help center' })).rejects.toThrow(
      `There is no playhead.config.ts in ${folder} or above it. It says how your agent is started:

import { defineConfig } from 'playhead'
import { runAgent } from './src/agent.ts'

export default defineConfig({
  agents: {
    'help center': { run: (input) => runAgent(input.text) },
  },
})`,
    )
    await expect(loadConfig(folder, { explicit: 'elsewhere.ts' })).rejects.toThrow(
      `There is no file ${folder}/elsewhere.ts.`,
    )
  })

  test('is loaded without keys, although a module creates its client at once', async () => {
    vi.stubEnv('OPENAI_API_KEY', undefined)
    onTestFinished(() => void vi.unstubAllEnvs())
    const folder = await project({
      'playhead.config.js': agentOf(`import OpenAI from '${import.meta.resolve('openai')}'
const answer = new OpenAI()`),
    })
    expect(await loadConfig(folder)).toMatchObject({ agents: [{ name: 'support' }] })
  })

  test('reaches the network while it is loaded, unless nothing may', async () => {
    const server = createServer((_, response) => response.end('"secret"'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secrets`
    const folder = await project({
      'playhead.config.js': agentOf(`import { execFileSync } from 'node:child_process'
execFileSync(process.execPath, ['--version'])
const response = await fetch('${url}')
if (!response.ok) throw new Error('no secrets')
const answer = () => 1`),
    })
    expect(await loadConfig(folder)).toMatchObject({ agents: [{ name: 'support' }] })
    await expect(loadConfig(folder, { isOffline: true })).rejects.toThrow(
      `playhead.config.js can't be loaded (playhead.config.js:6): no secrets
The config, or what it imports, asks for GET ${url} as soon as it is loaded. Nothing reaches the network here: ask for it when the agent runs, in a function that recordTool wraps.`,
    )
  })

  test.each([
    ['export default {}', 'playhead.config.js has no agents. Export them:'],
    ['export default { agents: { a: {} } }', 'playhead.config.js: agents.a.run must be a function.'],
    [
      "throw new Error('no database')",
      "playhead.config.js can't be loaded (playhead.config.js:1): no database",
    ],
    ['process.exit(3)', "playhead.config.js can't be loaded: the process that imported it exited with 3."],
  ])('that is wrong says what: %s', async (text, sentence) => {
    const folder = await project({ 'playhead.config.js': text })
    await expect(loadConfig(folder)).rejects.toThrow(sentence)
  })
})

describe('what Node does not load by itself', () => {
  const bothWays =
    "Install tsx (npm install --save-dev tsx), or name your own loader in the config: imports: ['…']."

  test.each([
    ['export enum Plan { pro }\nexport const answer = () => Plan.pro', 'agent.ts:1 has a TypeScript enum'],
    [
      'class A { constructor(private plan = 1) {} }\nexport const answer = () => new A()',
      'agent.ts:1 has a TypeScript parameter property',
    ],
    [
      'const on = (method: unknown) => method\nclass A { @on go() {} }\nexport const answer = () => new A()',
      'agent.ts:2 has a decorator',
    ],
    ["export { answer } from './other.js'", 'agent.ts imports "other.js", which Node does not find'],
    ["export { answer } from '@/other'", 'agent.ts imports "@/other", which Node does not find'],
  ])('is named, with both ways out: %s', async (agent, what) => {
    const folder = await project({
      'playhead.config.ts': agentOf("import { answer } from './agent.ts'"),
      'agent.ts': agent,
    })
    const sentence = await loadConfig(folder).then(String, (error: Error) => error.message)
    expect(sentence).toContain(`playhead.config.ts can't be loaded: ${what}`)
    expect(sentence).toContain(bothWays)
  })

  test('is loaded by what the config imports', async () => {
    const folder = await project({
      'playhead.config.ts': `import { answer } from './other.js'
export default { imports: ['loader'], agents: { support: { run: answer } } }`,
      'other.ts': 'export const answer = (): number => 1',
      // Not for `require`.
      'node_modules/loader/package.json': JSON.stringify({
        name: 'loader',
        exports: { import: './index.mjs' },
      }),
      'node_modules/loader/index.mjs': `
import { registerHooks } from 'node:module'
registerHooks({ resolve: (name, context, next) => next(name === './other.js' ? './other.ts' : name, context) })
`,
    })
    expect(await loadConfig(folder)).toMatchObject({ imports: ['loader'], agents: [{ name: 'support' }] })
  })
})

describe('the agent of a session', () => {
  const config = {
    file: '/project/playhead.config.ts',
    folder: '/project',
    imports: [],
    agents: [{ name: 'support', hasMatches: false }],
    allowSpawn: [],
  }

  test('has its name', async () => {
    const session = sessionOf('support')
    expect(await findAgent(config, session)).toEqual({ agent: 'support', session })
  })

  test("has the name of a part of it, as in a test's session: the part is what runs again", async () => {
    const session = sessionOf(
      'refunds once',
      { kind: 'workflow', name: 'support', attributes: { 'playhead.session.name': 'support' } },
      { kind: 'action', name: 'inside', parentId: '1'.padStart(16, '0') },
      { kind: 'action', name: 'beside' },
    )
    const found = await findAgent(config, { ...session, session: { ...session.session, endState: 'fail' } })
    expect(found.agent).toBe('support')
    expect(found.session.session).toMatchObject({ endState: 'success', stepCount: 2 })
    expect(found.session.steps.map(({ name, parentId }) => [name, parentId])).toEqual([
      ['support', null],
      ['inside', '1'.padStart(16, '0')],
    ])
  })

  test('is chosen by `matches` where the config has it', async () => {
    const folder = await project({
      'playhead.config.js': `export default { agents: {
  vip: { run: () => 1, matches: ({ name }) => name.endsWith('(vip)') },
  support: { run: () => 1 },
} }`,
    })
    const loaded = await loadConfig(folder)
    expect(await findAgent(loaded, sessionOf('refund (vip)'))).toMatchObject({ agent: 'vip' })
    expect(await findAgent(loaded, sessionOf('support'))).toMatchObject({ agent: 'support' })
  })

  test('that is missing is written out', async () => {
    await expect(findAgent(config, sessionOf('billing'))).rejects.toThrow(
      `No agent in playhead.config.ts makes sessions named "billing". Add it:

  agents: {
    billing: { run: (input) => runAgent(input.text) },
  },

Its agents: support.`,
    )
  })
})
