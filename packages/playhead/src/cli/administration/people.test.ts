import { expect, test } from 'vitest'
import { startFakeServer } from '../test/fake-server.ts'
import { playhead, playheadOnTerminal } from '../test/run-playhead.ts'

const ada = {
  id: 'p1',
  subject: 'ada',
  email: 'ada@example.com',
  name: 'Ada',
  roles: { shop: 'viewer' },
  isDisabled: false,
  lastLoginAt: new Date().toISOString(),
}

test('people list shows roles; people set changes one and keeps the others', async () => {
  const { endpoint, received } = await startFakeServer({
    'GET /api/people': { people: [ada] },
    'PATCH /api/people/p1': { ...ada, roles: { shop: 'viewer', '*': 'member' } },
  })

  const table = await playheadOnTerminal(['people', 'list'], { endpoint })
  const changed = await playhead(['people', 'set', 'ADA@example.com', '--role', 'member', '--everywhere'], {
    endpoint,
  })

  expect(table.stdout).toContain('ada@example.com  Ada   viewer of shop')
  expect(changed.stderr).toBe('ada@example.com: viewer of shop, member of all projects\n')
  const { body } = received.find(({ method }) => method === 'PATCH')!
  expect(JSON.parse(body.toString())).toEqual({ roles: { shop: 'viewer', '*': 'member' } })
})

test('people set names what is wrong', async () => {
  const { endpoint } = await startFakeServer({ 'GET /api/people': { people: [ada] } })
  const run = async (...words: string[]) => (await playhead(['people', 'set', ...words], { endpoint })).stderr

  expect(await run('bob@example.com', '--disable')).toContain(
    'Nobody with the address "bob@example.com" has logged in yet',
  )
  expect(await run('ada@example.com', '--role', 'owner')).toContain('Roles: viewer, member, admin, none')
  expect(await run('ada@example.com')).toContain('Pass --role, --disable or --enable')
})
