import { once } from 'node:events'
import { createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { commands } from './run-cli.ts'
import { refuse, startFakeServer } from './test/fake-server.ts'
import { recordedPage } from './test/recorded.ts'
import { playhead, playheadOnTerminal, startPlayhead } from './test/run-playhead.ts'

test('without a command the help is shown, with every command in it', async () => {
  const { stdout, stderr, exitCode } = await playhead([])

  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
  for (const { name, summary } of commands)
    expect(stdout).toMatch(new RegExp(`^  ${name} .*${escape(summary)}`, 'm'))
})

test('every command has its help with examples', async () => {
  const helps = await Promise.all(
    ['ls --help', 'help show', 'keys create -h', 'projects --help'].map((typed) =>
      playhead(typed.split(' ')),
    ),
  )

  expect(helps.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0])
  expect(helps[0]!.stdout).toContain('Usage: playhead ls [options]')
  expect(helps[0]!.stdout).toContain('playhead ls --status fail --since 24h')
  expect(helps[1]!.stdout).toContain('Usage: playhead show <session> [options]')
  expect(helps[2]!.stdout).toContain('--scope <scope>')
  expect(helps[3]!.stdout).toContain('Usage: playhead projects list')
  expect(helps[3]!.stdout).toContain('Usage: playhead projects create <name>')
})

test('the version is the one of the package', async () => {
  expect(await playhead(['--version'])).toEqual({
    stdout: `${packageJson.version}\n`,
    stderr: '',
    exitCode: 0,
  })
})

test.each([
  ['shwo last', 'There is no command "shwo". Did you mean "show"?\nAll commands: playhead --help'],
  ['frobnicate', 'There is no command "frobnicate".\nAll commands: playhead --help'],
  ['ls --statsu fail', 'ls has no option --statsu. Did you mean --status?\nAll options: playhead ls --help'],
  ['--bogus', 'playhead has no option --bogus.\nAll options: playhead --help'],
  ['ls -x', 'ls has no option -x.\nAll options: playhead ls --help'],
  ['ls --tag', '--tag needs a value: --tag <tag>'],
  ['ls --tag --json', '--tag needs a value: --tag <tag>. One that begins with a dash: --tag=--json'],
  ['ls --json=yes', '--json takes no value.'],
  ['ls last', 'ls does not know what to do with "last".\nHow it is used: playhead ls --help'],
  ['ls --limit 0', '--limit is "0"; it must be a whole number from 1 on.'],
  ['ls --limit 5 --all', 'Give --limit or --all, not both.'],
  [
    'ls --status failed',
    `--status can't be "failed". Did you mean fail?\nIt can be: success, fail, indeterminate, running, lost`,
  ],
  ['ls --sort price', `--sort can't be "price".\nIt can be: time, cost, duration, steps, errors, tokens`],
  ['ls --since yesterday', '--since is "yesterday"; it looks like 24h, 7d or 2026-01-31T08:00:00Z.'],
  ['ls --cost cheap', '--cost is "cheap"; it looks like ">0.01", "<=1" or "0.01..0.05".'],
  ['show', 'show needs <session>.\nHow it is used: playhead show --help'],
  [
    'show nobody',
    '"nobody" is not a session. Give an id or its first digits (playhead ls shows them), last or last-failed.',
  ],
  ['export last --format pdf', `--format can't be "pdf".\nIt can be: json, html, otlp`],
  ['keys', 'keys needs another word. One of: playhead keys list, playhead keys create, playhead keys revoke'],
  [
    'keys revok x',
    'There is no command "keys revok". Did you mean "keys revoke"?\nOne of: playhead keys list, playhead keys create, playhead keys revoke',
  ],
  ['backup', 'backup needs a file to write: playhead backup -o playhead.tar'],
  [
    'ls --endpoint ftp://there',
    '"ftp://there" is not the address of a server. It looks like http://localhost:4318 (--endpoint or PLAYHEAD_ENDPOINT).',
  ],
  [
    'ls --api-key ключ',
    'The key holds characters that no key has. Copy it again (--api-key or PLAYHEAD_API_KEY).',
  ],
])('"playhead %s" is not understood, and says what would be', async (typed, message) => {
  const outcome = await playheadOnTerminal(typed.split(' '))

  expect(outcome).toEqual({ stdout: '', stderr: `playhead: ${message}\n`, exitCode: 2 })
})

test('what is not understood is an exit code of 2', async () => {
  const { stderr, exitCode } = await playhead(['shwo'])

  expect(stderr).toContain('Did you mean "show"?')
  expect(exitCode).toBe(2)
})

test('options may stand before the command', async () => {
  const { endpoint, received } = await startFakeServer({ 'GET /api/sessions': { sessions: [] } })

  await playhead(['--endpoint', endpoint, '--project', 'shop', 'ls', '--tag=a'])

  expect(received.map(({ query }) => query.toString())).toEqual(['tag=a&limit=20&project=shop'])
})

test('a server that is not there is said to be not there', async () => {
  const port = await closedPort()

  const outcome = await playhead(['ls'], { endpoint: `http://localhost:${port}/` })

  expect(outcome).toEqual({
    stdout: '',
    stderr: `playhead: Nothing answers at http://localhost:${port}. Start it with: npx playhead serve --port ${port}\n`,
    exitCode: 1,
  })
})

test('an address that does not exist is said to be wrong', async () => {
  const { stderr, exitCode } = await playhead(['ls', '--endpoint', 'https://playhead.invalid/'])

  expect(stderr).toMatch(
    /^playhead: Nothing answers at https:\/\/playhead\.invalid\. Check the address \(--endpoint/,
  )
  expect(exitCode).toBe(1)
})

test('another program on the port is not taken for Playhead', async () => {
  const { endpoint } = await startFakeServer({
    'GET /api/sessions': (response) => void response.end('<html>'),
  })

  const { stderr, exitCode } = await playhead(['ls'], { endpoint })

  expect(stderr).toContain(`${endpoint} answers, but not as Playhead does (200 for /api/sessions).`)
  expect(exitCode).toBe(1)
})

test("the server's own words are passed on, without what a terminal would act on", async () => {
  const { endpoint } = await startFakeServer({
    'GET /api/sessions': (response) =>
      refuse(response, 503, 'DISK_FULL', 'The disk is \u001B[31mfull\u0007.'),
  })

  expect(await playhead(['ls'], { endpoint })).toEqual({
    stdout: '',
    stderr: `playhead: The disk is \\x1b[31mfull\\x07.\n`,
    exitCode: 1,
  })
})

test('a key is sent, from an option or the environment, and asked for when it is missing', async () => {
  const { endpoint, received } = await startFakeServer({
    'GET /api/sessions': (response, { headers }) =>
      headers.authorization === undefined
        ? refuse(response, 401, 'UNAUTHORIZED', 'This server needs a key.')
        : void response.end(JSON.stringify({ sessions: [] })),
  })

  const refused = await playhead(['ls'], { endpoint })
  await playhead(['ls', '--api-key', 'ph_option'], { endpoint, environment: { PLAYHEAD_API_KEY: 'ph_env' } })
  await playhead(['ls'], {
    endpoint,
    environment: { PLAYHEAD_API_KEY: 'ph_env\n', AGENTOPS_API_KEY: 'other' },
  })
  await playhead(['ls'], { endpoint, environment: { AGENTOPS_API_KEY: 'other' } })

  expect(refused.stderr).toBe(
    'playhead: This server needs a key.\nGive a key: --api-key or PLAYHEAD_API_KEY.\n',
  )
  expect(received.map(({ headers }) => headers.authorization)).toEqual([
    undefined,
    'Bearer ph_option',
    'Bearer ph_env',
    'Bearer other',
  ])
})

test('whoever stops reading, as head does, ends it quietly', async () => {
  const endlessPage = { sessions: recordedPage.sessions, nextCursor: 'more' }
  const { endpoint } = await startFakeServer({ 'GET /api/sessions': endlessPage })
  const child = startPlayhead(['ls', '--all'], { endpoint })
  const ended = once(child, 'exit')
  const said = text(child.stderr!)

  await once(child.stdout!, 'data')
  child.stdout!.destroy()

  expect(await ended).toEqual([0, null])
  expect(await said).toBe('')
})

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address !== null ? address.port : 0
}

function escape(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}
