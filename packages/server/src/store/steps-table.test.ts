import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { NativeBlock, type Columns } from '../log/native-block.ts'
import { bareOutline, bareSpan, outline, span } from './test/sample-steps.ts'
import { connectStore } from './connect.ts'
import { logColumns } from './logs-table.ts'
import { sessionColumns } from './sessions-table.ts'
import {
  outlineFromRow,
  outlineSelect,
  packedOutlineSelect,
  packedSpanSelect,
  spanFromRow,
  spanSelect,
  stepColumns,
  toOutlineFacts,
  toStepRow,
  type OutlineRow,
  type SpanRow,
} from './steps-table.ts'

const directory = await mkdtemp(join(tmpdir(), 'playhead-tables-'))
const store = await connectStore({ path: directory, report: () => undefined })
afterAll(async () => {
  await store.close()
  await rm(directory, { recursive: true })
})

describe('the definition of a table has the names and types of the migrated table', () => {
  test.each<[string, Columns<never>]>([
    ['steps', { ...stepColumns, segment: { type: 'UInt64', value: () => 0 } }],
    ['logs', { ...logColumns, segment: { type: 'UInt64', value: () => 0 } }],
    ['sessions', sessionColumns],
  ])('%s', async (table, columns) => {
    const result = await store.client.query({
      query:
        'SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = {table:String}',
      query_params: { table },
      format: 'JSONEachRow',
    })
    const migrated = await result.json<{ name: string; type: string }>()

    // The engine converts what we write to LowCardinality.
    const types = migrated.map(({ name, type }) => [name, type.replaceAll(/LowCardinality\((\w+)\)/g, '$1')])
    expect(Object.fromEntries(types)).toEqual(
      Object.fromEntries(Object.entries(columns).map(([name, { type }]) => [name, type])),
    )
  })
})

test.each([
  ['with every field', span, outline],
  ['with no optional field', bareSpan, bareOutline],
  [
    'that only asks for a tool',
    bareSpan,
    {
      ...bareOutline,
      outputPreview: '→ look(at=(1))',
      toolRequests: [{ id: 'call-1', name: 'look', inputPreview: 'at=(1)' }],
    },
  ],
])('a step %s comes back from the store as it was written', async (project, written, writtenOutline) => {
  const context = {
    receivedAtMs: 1_760_000_002_000,
    arrival: 1_760_000_002_000_000,
    derivation: { normalizerVersion: 1, priceRevision: 1 },
    resource: JSON.stringify(written.resource),
  }
  const block = new NativeBlock(stepColumns)
  const row = toStepRow(project, written, writtenOutline, context)
  block.append(row)
  const path = join(directory, 'rows.native')
  await writeFile(path, Buffer.concat(block.pieces()))
  await store.insertFile(
    `INSERT INTO steps (${Object.keys(stepColumns).join(', ')}) FORMAT Native`,
    path,
    project,
  )

  const read = async <Row>(select: string) => {
    const result = await store.client.query({
      query: `SELECT ${select} FROM steps WHERE project = {project:String}`,
      query_params: { project },
      format: 'JSONEachRow',
    })
    return result.json<Row>()
  }
  for (const select of [outlineSelect, packedOutlineSelect])
    expect((await read<OutlineRow>(select)).map(outlineFromRow)).toEqual([writtenOutline])
  for (const select of [spanSelect, packedSpanSelect])
    expect((await read<SpanRow>(select)).map(spanFromRow)).toEqual([written])
  expect(await read<OutlineRow>(packedOutlineSelect)).toEqual([
    { ...toOutlineFacts(row), outline: String(row.packed) },
  ])
})

test('a preview that the step has anyway is stored once', () => {
  const preview = 'sunny in Paris'
  const { outline: stored } = Object.fromEntries(
    Object.entries(stepColumns).map(([name, { value }]) => [
      name,
      value(
        toStepRow(
          'p',
          bareSpan,
          { ...bareOutline, inputPreview: preview, toolAnswers: [{ id: 'call-1', outputPreview: preview }] },
          {
            receivedAtMs: 1,
            arrival: 1,
            derivation: { normalizerVersion: 1, priceRevision: 1 },
            resource: '{}',
          },
        ),
      ),
    ]),
  )

  expect(JSON.parse(String(stored))).toMatchObject({
    inputPreview: preview,
    toolAnswers: [{ id: 'call-1', outputPreview: null }],
  })
})
