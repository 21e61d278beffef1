import { expect, test } from 'vitest'
import type { Alignment, Step } from '@playhead/model'
import { nextDifference, openingRow, rowAtTime, timeOfRow, visibleRows } from './visible-rows.ts'

const step = (id: string, offsetMs: number, effect?: 'write'): Step => ({
  id,
  parentId: null,
  kind: 'action',
  name: id,
  startedAt: '',
  endedAt: null,
  offsetMs,
  durationMs: 5,
  status: 'ok',
  hasPayload: true,
  cost: null,
  dialect: 'playhead',
  ...(effect !== undefined && { effect }),
})

const alignment: Alignment = {
  rows: [
    { depth: 0, a: step('a1', 0), b: step('b1', 0), differences: [] },
    { depth: 0, a: step('a2', 10), b: step('b2', 100), differences: [{ kind: 'argument', path: 'id' }] },
    { depth: 0, b: step('b3', 200, 'write'), differences: [{ kind: 'added-effect' }] },
    { depth: 0, a: step('a3', 20), b: step('b4', 300), differences: [] },
  ],
  divergence: { kind: 'argument', path: 'id', row: 1 },
  effects: [],
  hasPayloads: true,
}

test('filters rows by differences and effects', () => {
  expect(visibleRows(alignment, 'all')).toEqual([0, 1, 2, 3])
  expect(visibleRows(alignment, 'differences')).toEqual([1, 2])
  expect(visibleRows(alignment, 'effects')).toEqual([2])
})

test('steps through differences in both directions and stops at the ends', () => {
  const all = new Set([0, 1, 2, 3])
  expect(openingRow(alignment)).toBe(1)
  expect(nextDifference(alignment, 1, 1, all)).toBe(2)
  expect(nextDifference(alignment, 2, 1, all)).toBeUndefined()
  expect(nextDifference(alignment, 2, -1, all)).toBe(1)
})

test('converts between times and rows', () => {
  expect(rowAtTime(alignment, 12, 'a')).toBe(1)
  expect(timeOfRow(alignment, 1, 'b')).toBe(100)
  expect(timeOfRow(alignment, 2, 'a')).toBe(15)
})
