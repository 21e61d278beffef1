import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { RECORDING_VERSION, type Session } from '@playhead/model'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/temporary-folder.ts'
import { startFakeServer } from '../test/fake-server.ts'
import { playheadOnTerminal } from '../test/run-playhead.ts'

const scenarios = new URL('../../../../model/test/scenarios/', import.meta.url)
const readScenario = async (name: string) =>
  JSON.parse(await readFile(new URL(`${name}.json`, scenarios), 'utf8')) as Session

async function saveRecording(session: Session): Promise<string> {
  const path = join(await temporaryFolder(), 'session.json')
  await writeFile(path, JSON.stringify({ version: RECORDING_VERSION, exportedAt: '', ...session }))
  return path
}

test('diff compares two sessions on the server and names the first divergence', async () => {
  const [passed, failed] = [await readScenario('billing-signed-in'), await readScenario('billing-fault')]
  const { endpoint } = await startFakeServer({
    'GET /api/sessions/aaaa1111': passed,
    'GET /api/sessions/bbbb2222': failed,
  })

  const { stdout, stderr, exitCode } = await playheadOnTerminal(['diff', 'aaaa1111', 's_bbbb2222'], {
    endpoint,
  })

  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
  expect(stdout).toContain('First divergence: step 6 find_account is missing\nEffects: the same\n')
  expect(stdout).toMatch(/ {4}6 +- {3}find_account is missing {3}← first divergence\n/)
  expect(stdout).toMatch(/ {4}7 {4}6 ~ {3}fetch_customer_data, argument customer_id null instead of "c_42"\n/)
})

test('a write that only one session made exits with 1, as text and as JSON', async () => {
  const done = await readScenario('refund')
  const index = done.steps.findIndex(({ name }) => name === 'issue_refund')
  const before = await saveRecording({ ...done, steps: done.steps.toSpliced(index, 1) })
  const after = await saveRecording(done)

  const text = await playheadOnTerminal(['diff', before, after])
  const json = await playheadOnTerminal(['diff', before, after, '--json'])

  expect([text.exitCode, json.exitCode, text.stderr, json.stderr]).toEqual([1, 1, '', ''])
  expect(text.stdout).toContain('Effect added: issue_refund\n')
  expect(JSON.parse(json.stdout)).toMatchObject({
    divergence: { kind: 'added-effect', says: 'step 7 issue_refund (a write) is extra' },
    effects: [{ kind: 'added', name: 'issue_refund' }],
  })
})

test('diff says when two sessions did the same', async () => {
  const path = await saveRecording(await readScenario('refund'))
  const { stdout, exitCode } = await playheadOnTerminal(['diff', path, path])
  expect(exitCode).toBe(0)
  expect(stdout).toContain(
    'No divergence: both sessions did the same.\nEffects: the same\n\n      … 10 equal steps\n',
  )
})

test('sessions that cannot be compared exit with 2', async () => {
  const path = await saveRecording(await readScenario('refund'))
  const missing = await playheadOnTerminal(['diff', path, 'nowhere/other.json'])
  const one = await playheadOnTerminal(['diff', path])
  expect([missing.exitCode, one.exitCode]).toEqual([2, 2])
  expect(missing.stderr).toBe('playhead: No such file or folder: nowhere/other.json\n')
})
