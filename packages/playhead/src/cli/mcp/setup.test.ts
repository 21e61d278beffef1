import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { playhead } from '../test/run-playhead.ts'
import { mergeJson, mergeToml } from './merge-config.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'playhead-setup-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const setup = (...args: string[]) =>
  playhead(['setup', ...args], {
    folder,
    environment: { CODEX_HOME: join(folder, 'codex'), PLAYHEAD_API_KEY: 'ph_secret' },
  })
const read = (file: string) => readFile(join(folder, file), 'utf8')

test('claude-code on an empty folder: shown first, written with --yes, then left alone', async () => {
  const shown = await setup('claude-code')
  expect(shown.exitCode).toBe(1)
  expect(shown.stdout).toContain('.mcp.json (new)')
  expect(shown.stderr).toContain('Nothing was written. To write it, add --yes.')
  expect(existsSync(join(folder, '.mcp.json'))).toBe(false)
  expect((await setup('claude-code', '--yes')).exitCode).toBe(0)
  expect(JSON.parse(await read('.mcp.json'))).toEqual({
    mcpServers: {
      playhead: {
        type: 'stdio',
        command: 'npx',
        args: ['-y', 'playhead', 'mcp'],
        env: { PLAYHEAD_API_KEY: '${PLAYHEAD_API_KEY}' },
      },
    },
  })
  expect(await read('.claude/skills/playhead/SKILL.md')).toContain('name: playhead')
  expect((await setup('claude-code', '--yes')).stderr).toContain('Claude Code is set up already')
})

test('claude-code on an existing configuration: shown first, merged, and backed up', async () => {
  const before = JSON.stringify(
    { mcpServers: { other: { command: 'x', args: ['=1'] } }, mine: true },
    null,
    4,
  )
  await writeFile(join(folder, '.mcp.json'), before)
  const shown = await setup('claude-code')
  expect(shown.exitCode).toBe(1)
  expect(shown.stdout).toContain('"playhead"')
  expect(await read('.mcp.json')).toBe(before)
  expect(existsSync(join(folder, '.mcp.json.before-playhead'))).toBe(false)

  expect((await setup('claude-code', '--yes')).exitCode).toBe(0)
  expect(JSON.parse(await read('.mcp.json'))).toEqual({
    mcpServers: {
      other: { command: 'x', args: ['=1'] },
      playhead: {
        type: 'stdio',
        command: 'npx',
        args: ['-y', 'playhead', 'mcp'],
        env: { PLAYHEAD_API_KEY: '${PLAYHEAD_API_KEY}' },
      },
    },
    mine: true,
  })
  expect(await read('.mcp.json.before-playhead')).toBe(before)
})

test('vscode on a configuration with comments: merged, and backed up', async () => {
  const before =
    '{\n  // our servers\n  "servers": {\n    "other": { "command": "x" }, // keep\n  },\n  "inputs": []\n}\n'
  await mkdir(join(folder, '.vscode'))
  await writeFile(join(folder, '.vscode/mcp.json'), before)
  const { stderr } = await setup('vscode', '--yes')
  const after = await read('.vscode/mcp.json')
  expect(after).toContain('// our servers')
  expect(after).toContain('"other": { "command": "x" }, // keep')
  expect(after).toContain('"playhead": {')
  expect(after).not.toContain('ph_secret')
  expect(stderr).toContain('.vscode/mcp.json.before-playhead')
  expect(await read('.vscode/mcp.json.before-playhead')).toBe(before)
})

test('codex: a table of its TOML', async () => {
  await mkdir(join(folder, 'codex'))
  await writeFile(
    join(folder, 'codex/config.toml'),
    'model = "x" # mine\n\n[mcp_servers.other]\ncommand = "y"\n',
  )
  await setup('codex', '--yes')
  expect(await read('codex/config.toml')).toBe(
    'model = "x" # mine\n\n[mcp_servers.other]\ncommand = "y"\n\n[mcp_servers.playhead]\ncommand = "npx"\nargs = ["-y","playhead","mcp"]\nenv_vars = ["PLAYHEAD_API_KEY"]\n',
  )
})

test('a configuration that is not JSON is left as it is', async () => {
  await writeFile(join(folder, '.mcp.json'), '{ broken')
  const { exitCode, stderr } = await setup('claude-code', '--yes')
  expect([exitCode, await read('.mcp.json')]).toEqual([1, '{ broken'])
  expect(stderr).toContain('Nothing was written.')
  expect((await setup('emacs')).stderr).toContain('claude-code, cursor, vscode, codex')
})

test.each([
  ['', { s: { n: { a: 1 } } }],
  ['{}', { s: { n: { a: 1 } } }],
  ['{"s": {}}', { s: { n: { a: 1 } } }],
  ['{"t": [1, "}"], "s": {"n": {"old": [{}]}, "m": 2}}', { t: [1, '}'], s: { n: { a: 1 }, m: 2 } }],
])('merges into %s', (text, expected) => {
  const merged = mergeJson(text, 's', 'n', { a: 1 })
  expect(JSON.parse(merged)).toEqual(expected)
  expect(mergeJson(merged, 's', 'n', { a: 1 })).toBe(merged)
})

test('replaces a table of TOML with the tables below it', () => {
  const before = '[a.b]\nx = 1\n[a.b.env]\ny = 2\n[c]\nz = 3\n'
  const after = mergeToml(before, 'a.b', ['x = 9'])
  expect(after).toBe('[a.b]\nx = 9\n\n[c]\nz = 3\n')
})
