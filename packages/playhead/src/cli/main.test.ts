import { once } from 'node:events'
import { createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { commands } from './run-cli.ts'
import { sendError, startFakeServer } from './test/fake-server.ts'
import { recordedPage } from './test/recorded.ts'
import { playhead, playheadOnTerminal, startPlayhead } from './test/run-playhead.ts'

test('without a command, the help lists every command', async () => {
  const { stdout, stderr, exitCode } = await playhead([])

  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
  for (const { name, summary } of commands)
    expect(stdout).toMatch(new RegExp(`^  ${name} .*${escape(summary)}`, 'm'))
})

test('the help of a command shows its usage and examples', async () => {
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

test('--version prints the version of the package', async () => {
  expect(await playhead(['--version'])).toEqual({
    stdout: `${packageJson.version}\n`,
    stderr: '',
    exitCode: 0,
  })
})

test.each([
  ['shwo last', 'Unknown command "shwo". Did you mean "show"?\nTo see all commands: playhead --help'],
  ['frobnicate', 'Unknown command "frobnicate".\nTo see all commands: playhead --help'],
  [
    'ls --statsu fail',
    'Unknown option --statsu. Did you mean "--status"?\nTo see all options: playhead ls --help',
  ],
  ['--bogus', 'Unknown option --bogus.\nTo see all options: playhead --help'],
  ['ls -x', 'Unknown option -x.\nTo see all options: playhead ls --help'],
  ['ls --tag', '--tag needs a value: --tag <tag>'],
  ['ls --tag --json', '--tag needs a value: --tag <tag>. If it starts with a dash, write --tag=--json'],
  ['ls --json=yes', "--json doesn't take a value."],
  ['ls last', 'Unexpected argument "last".\nFor usage: playhead ls --help'],
  ['ls --limit 0', '--limit must be a whole number of at least 1, not "0".'],
  ['ls --limit 5 --all', 'Use either --limit or --all, not both.'],
  [
    'ls --status failed',
    `--status can't be "failed". Did you mean "fail"?\nAllowed values: success, fail, indeterminate, running, lost`,
  ],
  [
    'ls --sort price',
    `--sort can't be "price".\nAllowed values: time, cost, duration, steps, errors, tokens`,
  ],
  ['ls --since yesterday', `--since can't be "yesterday". Examples: 24h, 7d, 2026-01-31T08:00:00Z`],
  ['ls --cost cheap', `--cost can't be "cheap". Examples: ">0.01", "<=1", "0.01..0.05"`],
  ['show', 'Missing argument <session>.\nFor usage: playhead show --help'],
  [
    'show nobody',
    '"nobody" is not a session id. Use an id or its first digits (see playhead ls), "last" or "last-failed".',
  ],
  ['export last --format pdf', `--format can't be "pdf".\nAllowed values: json, html, otlp`],
  [
    'keys',
    '"keys" needs a subcommand.\nAvailable: playhead keys list, playhead keys create, playhead keys revoke',
  ],
  [
    'keys revok x',
    'Unknown command "keys revok". Did you mean "keys revoke"?\nAvailable: playhead keys list, playhead keys create, playhead keys revoke',
  ],
  ['backup', 'backup needs an output file: playhead backup -o playhead.tar'],
  [
    'ls --endpoint ftp://there',
    '"ftp://there" is not a server URL. Use one like http://localhost:4318 (--endpoint or PLAYHEAD_ENDPOINT).',
  ],
  [
    'ls --api-key ключ',
    'The API key contains invalid characters. Copy it again (--api-key or PLAYHEAD_API_KEY).',
  ],
])('"playhead %s" is rejected with a hint', async (typed, message) => {
  const outcome = await playheadOnTerminal(typed.split(' '))

  expect(outcome).toEqual({ stdout: '', stderr: `playhead: ${message}\n`, exitCode: 2 })
})

test('invalid usage exits with 2', async () => {
  const { stderr, exitCode } = await playhead(['shwo'])

  expect(stderr).toContain('Did you mean "show"?')
  expect(exitCode).toBe(2)
})

test('options may come before the command', async () => {
  const { endpoint, received } = await startFakeServer({ 'GET /api/sessions': { sessions: [] } })

  await playhead(['--endpoint', endpoint, '--project', 'shop', 'ls', '--tag=a'])

  expect(received.map(({ query }) => query.toString())).toEqual(['tag=a&limit=20&project=shop'])
})

test('an unreachable local server comes with the command that starts it', async () => {
  const port = await closedPort()

  const outcome = await playhead(['ls'], { endpoint: `http://localhost:${port}/` })

  expect(outcome).toEqual({
    stdout: '',
    stderr: `playhead: Can't connect to http://localhost:${port}. Start a server with: npx playhead serve --port ${port}\n`,
    exitCode: 1,
  })
})

test('an unreachable remote server comes with what to check', async () => {
  const { stderr, exitCode } = await playhead(['ls', '--endpoint', 'https://playhead.invalid/'])

  expect(stderr).toMatch(
    /^playhead: Can't connect to https:\/\/playhead\.invalid\. Check the URL \(--endpoint/,
  )
  expect(exitCode).toBe(1)
})

test('another program on the port is not mistaken for Playhead', async () => {
  const { endpoint } = await startFakeServer({
    'GET /api/sessions': (response) => void response.end('<html>'),
  })

  const { stderr, exitCode } = await playhead(['ls'], { endpoint })

  expect(stderr).toContain(`${endpoint} responded, but not like a Playhead server (200 for /api/sessions).`)
  expect(exitCode).toBe(1)
})

test('errors of the server are shown with control characters escaped', async () => {
  const { endpoint } = await startFakeServer({
    'GET /api/sessions': (response) =>
      sendError(response, 503, 'DISK_FULL', 'The disk is \u001B[31mfull\u0007.'),
  })

  expect(await playhead(['ls'], { endpoint })).toEqual({
    stdout: '',
    stderr: `playhead: The disk is \\x1b[31mfull\\x07.\n`,
    exitCode: 1,
  })
})

test('the API key comes from an option or the environment, and a missing one is explained', async () => {
  const { endpoint, received } = await startFakeServer({
    'GET /api/sessions': (response, { headers }) =>
      headers.authorization === undefined
        ? sendError(response, 401, 'UNAUTHORIZED', 'This server needs a key.')
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
    'playhead: This server needs a key.\nPass a key with --api-key or PLAYHEAD_API_KEY.\n',
  )
  expect(received.map(({ headers }) => headers.authorization)).toEqual([
    undefined,
    'Bearer ph_option',
    'Bearer ph_env',
    'Bearer other',
  ])
})

test('a reader that closes the pipe, like head, ends the command quietly', async () => {
  const endlessPage = { sessions: recordedPage.sessions, nextCursor: 'more' }
  const { endpoint } = await startFakeServer({ 'GET /api/sessions': endlessPage })
  const child = startPlayhead(['ls', '--all'], { endpoint })
  const ended = once(child, 'exit')
  const errors = text(child.stderr!)

  await once(child.stdout!, 'data')
  child.stdout!.destroy()

  expect(await ended).toEqual([0, null])
  expect(await errors).toBe('')
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
