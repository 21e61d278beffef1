import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spanToStep, type Span } from '@playhead/model'
import { afterAll, expect, test } from 'vitest'
import { NativeBlock } from '../log/native-block.ts'
import { connectStore } from './connect.ts'
import { SEARCH_TEXT, stepColumns, toStepRow } from './steps-table.ts'
import { WordIndex } from './word-index.ts'

const directory = await mkdtemp(join(tmpdir(), 'playhead-words-'))
const store = await connectStore({ path: directory, report: () => undefined })
const words = new WordIndex(store)
afterAll(async () => {
  await store.close()
  await rm(directory, { recursive: true })
})

/** Inserts a step that says these words, as part of a segment of so many rows while others wait. */
async function insertStep(spanId: string, said: string, rows: number): Promise<void> {
  const span: Span = {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId,
    parentSpanId: null,
    isParentRemote: false,
    name: 'chat',
    kind: 3,
    startNs: 1_760_000_000_000_000_000n,
    endNs: 1_760_000_001_000_000_000n,
    statusCode: 0,
    statusMessage: '',
    attributes: { 'gen_ai.operation.name': 'chat', said },
    events: [],
    links: [],
    resource: {},
    scope: { name: '', version: '' },
  }
  const block = new NativeBlock(stepColumns)
  const context = {
    receivedAtMs: 1_760_000_002_000,
    arrival: 1,
    derivation: { normalizerVersion: 1, priceRevision: 1 },
    resource: '{}',
  }
  block.append(toStepRow('p', span, spanToStep(span).outline, context))
  const path = join(directory, `${spanId}.native`)
  await writeFile(path, Buffer.concat(block.pieces()))
  const statement = `INSERT INTO steps (${Object.keys(stepColumns).join(', ')}) FORMAT Native`
  await store.insertFile(statement, path, spanId, words.insertSettings({ rows, waiting: 1 }))
}

async function read<Row>(query: string): Promise<Row[]> {
  const result = await store.client.query({ query, format: 'JSONEachRow' })
  return result.json<Row>()
}

/** The steps that a search for the word finds. */
async function search(word: string): Promise<string[]> {
  const rows = await read<{ step_id: string }>(
    `SELECT step_id FROM steps WHERE hasAllTokens(${SEARCH_TEXT}, '${word}') ORDER BY step_id`,
  )
  return rows.map((row) => row.step_id)
}

/** For each part, whether its words are indexed. */
async function indexed(): Promise<number[]> {
  const rows = await read<{ has: number }>(
    `SELECT secondary_indices_uncompressed_bytes > 16 * marks AS has FROM system.parts
     WHERE database = currentDatabase() AND table = 'steps' AND active ORDER BY has`,
  )
  return rows.map(({ has }) => has)
}

test('words are found before and after they are indexed', async () => {
  await store.client.command({ query: 'SYSTEM STOP MERGES steps' })
  await insertStep('0000000000000001', 'refund the parcel', 1)
  await insertStep('0000000000000002', 'refund the Ticket', 20_000)
  expect(await indexed()).toEqual([0, 1])
  expect(await search('refund')).toEqual(['0000000000000001', '0000000000000002'])
  expect(await search('ticket')).toEqual(['0000000000000002'])
  expect(await search('invoice')).toEqual([])

  await store.client.command({ query: 'SYSTEM START MERGES steps' })
  await words.build()
  await expect.poll(async () => (await indexed()).every((has) => has === 1), { timeout: 30_000 }).toBe(true)
  expect(await search('refund')).toEqual(['0000000000000001', '0000000000000002'])
  expect(await search('ticket')).toEqual(['0000000000000002'])
})

test('when every word is indexed, nothing more is done', async () => {
  await words.build()
  await words.build()
  const rows = await read<{ count: number }>(
    "SELECT count() AS count FROM system.mutations WHERE database = currentDatabase() AND table = 'steps'",
  )
  expect(rows).toEqual([{ count: 1 }])
})
