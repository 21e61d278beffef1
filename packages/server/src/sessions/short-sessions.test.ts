import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { connectStore, type Store } from '../store/connect.ts'
import { readBeginning } from './short-sessions.ts'

let directory: string
let store: Store
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'playhead-short-sessions-'))
  store = await connectStore({ path: directory, report: () => undefined })
  await store.client.command({ query: 'SYSTEM STOP MERGES steps' })
})
afterEach(async () => {
  await store.close()
  await rm(directory, { recursive: true })
})

const packed = '{"kind":"action","name":"find","dialect":"playhead","status":"ok"}'

/** One part. */
async function insertSteps(project: string, steps: readonly [sessionId: string, stepId: string][]) {
  const rows = steps.map(
    ([session, step]) =>
      `('${project}', '${session}', '${step}', 1, '2026-11-18 10:00:00', '2026-11-18 09:00:00', '2026-11-18 09:00:01', '${packed}')`,
  )
  await store.client.command({
    query: `INSERT INTO steps (project, session_id, step_id, segment, received_at, started_at, ended_at, outline) VALUES ${rows.join(', ')}`,
    clickhouse_settings: {
      exclude_materialize_skip_indexes_on_insert: 'session_index',
    },
  })
}

async function merge(): Promise<void> {
  await store.client.command({ query: 'SYSTEM START MERGES steps' })
  await store.client.command({ query: 'OPTIMIZE TABLE steps FINAL' })
  await store.client.command({ query: 'SYSTEM STOP MERGES steps' })
}

async function stepsOf(project: string, id: string): Promise<string[] | undefined> {
  const read = await readBeginning(store, project, { id, maxRows: 100, largest: 1_000 })
  return read?.outlines.outlines.map(({ outline }) => outline.id)
}

test('a session is read from all parts, whether they have the index of sessions or not', async () => {
  await insertSteps('p', [
    ['aa', '1'],
    ['bb', '2'],
  ])
  await insertSteps('p', [['cc', '3']])
  await merge()
  await insertSteps('p', [['aa', '4']])
  await insertSteps('p', [['bb', '5']])
  await insertSteps('other', [['aa', '6']])

  expect(await stepsOf('p', 'aa')).toEqual(['1', '4'])
  expect(await stepsOf('p', 'bb')).toEqual(['2', '5'])
  expect(await stepsOf('other', 'aa')).toEqual(['6'])
  expect(await stepsOf('p', 'dd')).toEqual([])
})

test('merges build the index of sessions, which leaves out a part without the session', async () => {
  await insertSteps('p', [
    ['aa', '1'],
    ['cc', '2'],
  ])
  const [before] = await partsRead('bb')
  await merge()
  const [after] = await partsRead('bb')

  expect([before, after]).toEqual(['1/1', '0/1'])
})

/** Of the parts, those that are left by the last index. */
async function partsRead(id: string): Promise<string[]> {
  const result = await store.client.query({
    query: `EXPLAIN indexes = 1 SELECT step_id FROM steps WHERE project = 'p' AND session_id = {id:String}`,
    query_params: { id },
    clickhouse_settings: { use_skip_indexes_on_data_read: 0 },
    format: 'TabSeparatedRaw',
  })
  const parts = (await result.text()).match(/Parts: \d+\/\d+/g) ?? []
  return parts.map((text) => text.slice('Parts: '.length)).slice(-1)
}
