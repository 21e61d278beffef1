import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/temporary-folder.ts'
import { playhead } from '../test/run-playhead.ts'

const golden = join(import.meta.dirname, '../../../../../fixtures/cassettes')
/** The golden cassettes have a date. */
const anyAge = ['--max-age', '5000w']

async function project(): Promise<string> {
  const folder = await temporaryFolder()
  await cp(golden, join(folder, 'test/__cassettes__'), { recursive: true })
  return folder
}

test('cassettes without faults', async () => {
  const folder = await project()
  expect(await playhead(['cassette', 'lint', ...anyAge], { folder })).toEqual({
    stdout: '',
    stderr: '3 cassettes, 0 findings.\n',
    exitCode: 0,
  })
  expect(await playhead(['cassette', 'lint'], { folder: await temporaryFolder() })).toEqual({
    stdout: '',
    stderr: 'No cassettes found.\n',
    exitCode: 0,
  })
})

test('a secret that was planted by hand, a broken line, age', async () => {
  const folder = await project()
  const file = 'test/__cassettes__/support.jsonl'
  const text = await readFile(join(folder, file), 'utf8')
  const planted = text
    .replace('"plan":"Pro","since"', '"plan":"Pro","apiKey":"k-1234567","since"')
    .replace('"req_1"', '"sk-proj-Ab12Cd34Ef56Gh78Ij90"')
    .replace('Tidewater."', 'Tidewater. Use ghp_0123456789abcdefghijABCDEFGHIJ012345."')
  await writeFile(join(folder, file), `${planted}{"kind":"act\n`)
  const { stdout, stderr, exitCode } = await playhead(
    ['cassette', 'lint', file, '--max-age', '1ms', '--json'],
    { folder },
  )
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([
    {
      file,
      line: 1,
      kind: 'old',
      sentence:
        'was recorded on 2026-11-16. Models and tools may answer otherwise today: PLAYHEAD_CASSETTE=record.',
    },
    secret(5, 'answer.headers.x-request-id'),
    secret(6, 'parts.0.text'),
    secret(8, 'result.apiKey'),
    { file, line: 13, kind: 'broken', sentence: 'is not JSON.' },
  ])
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 1 })

  function secret(line: number, place: string) {
    return { file, line, kind: 'secret', sentence: `holds a secret at ${place}. Remove it, and revoke it.` }
  }
})

test('what the last run did not ask for, unless the cassette has the ways of several sessions', async () => {
  const folder = await project()
  const [path, joined] = ['support', 'joined'].map((name) => join(folder, `test/__cassettes__/${name}.jsonl`))
  const text = await readFile(path!, 'utf8')
  await writeFile(joined!, text.replace('"sessions":[', '"sessions":["a",'))
  await mkdir(join(folder, '.playhead/run'), { recursive: true })
  const uses = [
    { path, unused: [4, 6] },
    { path, unused: [6] },
    { path: joined, unused: [6] },
  ]
  await writeFile(
    join(folder, '.playhead/run/1.cassettes'),
    uses.map((use) => `${JSON.stringify(use)}\n`).join(''),
  )
  expect(await playhead(['cassette', 'lint', ...anyAge], { folder })).toEqual({
    stdout: 'test/__cassettes__/support.jsonl:12 issue_refund was not asked for in the last run.\n',
    stderr: '4 cassettes, 1 finding.\n',
    exitCode: 1,
  })
})

test('a file that is not there', async () => {
  expect(await playhead(['cassette', 'lint', 'nothing'])).toEqual({
    stdout: '',
    stderr: 'playhead: There is no file or folder nothing.\n',
    exitCode: 1,
  })
})
