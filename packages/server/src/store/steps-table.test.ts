import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Span, StepOutline } from '@playhead/model'
import { afterAll, describe, expect, test } from 'vitest'
import { NativeBlock, type Columns } from '../log/native-block.ts'
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
  toOutlineRow,
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

const span: Span = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  parentSpanId: '00f067aa0ba902b7',
  isParentRemote: true,
  name: 'chat',
  kind: 3,
  startNs: 1_760_000_000_123_456_789n,
  endNs: 1_760_000_001_123_456_789n,
  statusCode: 2,
  statusMessage: 'no',
  attributes: { 'gen_ai.system': 'openai', list: ['a', 'b'] },
  events: [{ name: 'exception', timeNs: 1_760_000_000_500_000_001n, attributes: { code: 7 } }],
  links: [{ traceId: '0af7651916cd43dd8448eb211c80319d', spanId: 'b7ad6b7169203332', attributes: {} }],
  resource: { 'service.name': 'support' },
  scope: { name: 'openai', version: '1.2.3' },
}

const outline: StepOutline = {
  sessionId: span.traceId,
  id: span.spanId,
  parentId: span.parentSpanId,
  isParentRemote: true,
  startedAtMs: 1_760_000_000_123.456,
  endedAtMs: 1_760_000_001_123.456,
  kind: 'llm',
  name: 'chat gpt-4o',
  dialect: 'otel-genai',
  reporter: 'openai',
  status: 'error',
  error: {
    type: 'TimeoutError',
    message: 'too slow',
    isHandled: true,
    isPropagated: false,
    cause: { type: 'Error', message: 'socket' },
  },
  model: 'gpt-4o-2024-08-06',
  requestedModel: 'gpt-4o',
  provider: 'openai',
  usage: { input: 12, output: 3 },
  isUsageRollup: true,
  isUsageEstimated: true,
  reportedCost: 0.25,
  cost: 0.5,
  costSource: 'computed',
  responseId: 'r-1',
  finishReasons: ['stop'],
  attempt: 2,
  toolName: 'search',
  toolCallId: 'call-1',
  agent: 'support',
  effect: 'read',
  source: 'stub',
  toolRequests: [{ id: 'call-2', name: 'look', inputPreview: 'at=1' }, { name: 'listen' }],
  toolAnswers: [
    { id: 'call-0', outputPreview: 'where is my order?' },
    { name: 'look', outputPreview: 'nothing', error: { type: 'ToolError', message: 'nothing' } },
    { id: 'call-1' },
  ],
  handoff: { from: 'a', to: 'b' },
  guardrail: { name: 'pii', isTriggered: false },
  firstTokenMs: 81.5,
  isStreamAborted: true,
  inputPreview: 'where is my order?',
  outputPreview: 'on its way',
  isTruncated: true,
  isInferred: true,
  treeQuestion: 'parent-by-time',
  session: { name: 'refund', tags: ['vip'], endState: 'success' },
}

const bareOutline: StepOutline = {
  sessionId: span.traceId,
  id: span.spanId,
  parentId: null,
  isParentRemote: false,
  startedAtMs: 1_760_000_000_123.456,
  endedAtMs: null,
  kind: 'other',
  name: 'GET /',
  dialect: 'generic',
  status: 'running',
}
const bareSpan: Span = {
  ...span,
  parentSpanId: null,
  isParentRemote: false,
  endNs: null,
  events: [],
  links: [],
  scope: { name: '', version: '' },
}

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
  expect(await read<OutlineRow>(packedOutlineSelect)).toEqual([toOutlineRow(row)])
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
