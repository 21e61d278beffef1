import { expect, test } from 'vitest'
import { startFakeServer } from '../test/fake-server.ts'
import { playhead, playheadOnTerminal } from '../test/run-playhead.ts'

const project = { name: 'Default', id: 'default', createdAt: '2020-01-02T03:04:05.000Z', retentionDays: null }
const shop = { ...project, name: 'Web shop', id: 'shop', retentionDays: 30 }

test('projects list shows the retention', async () => {
  const { endpoint } = await startFakeServer({ 'GET /api/projects': { projects: [project, shop] } })

  const table = await playheadOnTerminal(['projects', 'list'], { endpoint })
  const lines = await playhead(['projects', 'list'], { endpoint })

  expect(table.stdout).toBe(`\
ID       Name      Retention  Created
default  Default   forever    2020-01-02
shop     Web shop  30 days    2020-01-02
`)
  expect(lines.stdout).toBe(
    `default\tDefault\t${project.createdAt}\t\nshop\tWeb shop\t${project.createdAt}\t30\n`,
  )
})

test('projects create prints the id, and does not send a key, which lacks the permission', async () => {
  const { endpoint, received } = await startFakeServer({ 'POST /api/projects': shop })

  const { stdout, stderr } = await playhead(['projects', 'create', 'Web shop', '--id', 'shop'], {
    endpoint,
    environment: { PLAYHEAD_API_KEY: 'ph_env' },
  })

  expect(stdout).toBe('shop\n')
  expect(stderr).toBe(
    'Created project "Web shop". To create a key for it: playhead keys create --project shop --name ci\n',
  )
  expect(received.map(({ headers, body }) => [headers.authorization, body.toString()])).toEqual([
    [undefined, '{"name":"Web shop","id":"shop"}'],
  ])
})

test('quota sets how much a project may send a day, and shows what it has sent today', async () => {
  const limited = { ...project, dailySpans: 2_000_000, dailyBytes: null }
  const { endpoint, received } = await startFakeServer({
    'GET /api/me': { kind: 'anyone', isAuthOn: false },
    'GET /api/projects': { projects: [limited] },
    'PATCH /api/projects/default': limited,
    'GET /api/projects/default/usage': { spans: 1_234, bytes: 5_600_000 },
  })

  const { stdout } = await playhead(['quota', '--spans', '2m', '--bytes', 'none'], { endpoint })

  expect(stdout).toBe(`\
Project default, today (UTC):
  spans  1,234 of 2M
  bytes  5.6 MB (no quota)
`)
  const change = received.find(({ method }) => method === 'PATCH')
  expect(JSON.parse(change!.body.toString())).toEqual({ dailySpans: 2_000_000, dailyBytes: null })
  const wrong = await playhead(['quota', '--bytes', '5 parsecs'], { endpoint })
  expect(wrong.stderr).toContain(`--bytes can't be "5 parsecs". Examples: 1000000, 2m, 5gb, none`)
})
