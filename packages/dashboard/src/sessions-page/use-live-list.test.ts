import { expect, test } from 'vitest'
import type { SessionSummary } from '@playhead/model'
import type { SessionPages } from '../api/sessions.ts'
import { idsOf, mergeArrivals } from './use-live-list.ts'

const session = (id: string, second: number, name = id) =>
  ({ id, name, startedAt: `2026-01-01T00:00:${String(second).padStart(2, '0')}.000Z` }) as SessionSummary

const pages = (...lists: SessionSummary[][]): SessionPages => ({
  pages: lists.map((sessions) => ({ sessions })),
  pageParams: lists.map(() => undefined),
})

const names = (data: SessionPages) => data.pages.map(({ sessions }) => sessions.map(({ name }) => name))

test('new sessions come first, sorted by time', () => {
  const merged = mergeArrivals(pages([session('b', 20), session('a', 10)]), [
    session('d', 40),
    session('c', 30),
  ])
  expect(names(merged)).toEqual([['d', 'c', 'b', 'a']])
})

test('a session that is reported late is sorted in by its start', () => {
  const merged = mergeArrivals(pages([session('c', 30), session('a', 10)]), [session('b', 20)])
  expect(names(merged)).toEqual([['c', 'b', 'a']])
})

test('listed sessions are updated in place, on any page', () => {
  const merged = mergeArrivals(pages([session('b', 20)], [session('a', 10)]), [session('a', 10, 'a ended')])
  expect(names(merged)).toEqual([['b'], ['a ended']])
  expect(idsOf(merged)).toEqual(new Set(['b', 'a']))
})

test('adds the first session to an empty list', () => {
  expect(names(mergeArrivals(pages([]), [session('a', 1)]))).toEqual([['a']])
})
