import { expect, test } from 'vitest'
import type { EndState, SessionSummary } from '@playhead/model'
import { buildVariantMatrix } from './matrix-table.tsx'

let second = 0
const session = (id: string, variant: string, attempt?: number, endState: EndState = 'success') =>
  ({
    id,
    endState,
    startedAt: `2026-01-01T00:00:${String((second += 1)).padStart(2, '0')}Z`,
    test: { variant, ...(attempt !== undefined && { attempt }) },
  }) as SessionSummary

const ids = (sessions: readonly SessionSummary[]) =>
  buildVariantMatrix(sessions).rows.map(({ variant, cells }) => [variant, ...cells.map((cell) => cell?.id)])

test('inputs are rows in the order of their first run; attempts are columns', () => {
  const sessions = [
    session('a1', 'charged twice', 1),
    session('b1', 'billed double', 1, 'fail'),
    session('a2', 'charged twice', 2),
    session('b2', 'billed double', 2),
  ]
  expect(ids(sessions.toReversed())).toEqual([
    ['charged twice', 'a1', 'a2'],
    ['billed double', 'b1', 'b2'],
  ])
  expect(buildVariantMatrix(sessions).rows.map(({ passed, decided }) => [passed, decided])).toEqual([
    [2, 2],
    [1, 2],
  ])
})

test('a missing attempt leaves an empty cell', () => {
  expect(ids([session('a1', 'a', 1), session('a3', 'a', 3), session('b2', 'b', 2)])).toEqual([
    ['a', 'a1', undefined, 'a3'],
    ['b', undefined, 'b2', undefined],
  ])
})

test('sessions without an attempt are numbered by time; of duplicates, the later one counts', () => {
  expect(ids([session('a', 'x'), session('b', 'x')])).toEqual([['x', 'a', 'b']])
  expect(ids([session('early', 'x', 1), session('late', 'x', 1)])).toEqual([['x', 'late']])
})

test('running sessions are undecided', () => {
  expect(buildVariantMatrix([session('a', 'x', 1, 'running')]).rows[0]).toMatchObject({
    passed: 0,
    decided: 0,
  })
})
