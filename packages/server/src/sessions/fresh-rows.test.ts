import { expect, test } from 'vitest'
import { joinOutline, outlineFromRow, toOutlineFacts, toStepRow } from '../store/steps-table.ts'
import { bareOutline, bareSpan, outline, span } from '../store/test/sample-steps.ts'
import { FreshRows, readPart } from './fresh-rows.ts'

const context = {
  receivedAtMs: 1_760_000_002_000,
  arrival: 1_760_000_002_000_000,
  derivation: { normalizerVersion: 1, priceRevision: 1 },
  resource: '{}',
}

test('a row in memory is what a read from the store returns', () => {
  const rows = [
    toStepRow('p', span, outline, context),
    toStepRow('p', { ...bareSpan, scope: { name: 'a "scope", 日本', version: '' } }, bareOutline, context),
    toStepRow(
      'p',
      bareSpan,
      { ...bareOutline, cost: 0.1, costSource: 'reported', name: 'zwei\nZeilen ü' },
      context,
    ),
  ]
  const fresh = new FreshRows()
  for (const row of rows) fresh.add(row)

  const read = fresh.end().flatMap(readPart)

  expect(read.map((row) => joinOutline(row, row.packed))).toEqual(
    rows.map((row) => outlineFromRow({ ...toOutlineFacts(row), outline: String(row.packed) })),
  )
  expect(read.map(({ received_ms, version, arrival }) => [received_ms, version, arrival])).toEqual(
    rows.map((row) => [row.receivedAtMs, row.version, row.arrival]),
  )
})

test('each session of a batch is a part of its own', () => {
  const fresh = new FreshRows()
  for (const traceId of ['a', 'a', 'b', 'a'])
    fresh.add(toStepRow('p', { ...bareSpan, traceId }, bareOutline, context))

  expect(fresh.end().map(({ sessionId, rows }) => [sessionId, rows])).toEqual([
    ['a', 2],
    ['b', 1],
    ['a', 1],
  ])
})
