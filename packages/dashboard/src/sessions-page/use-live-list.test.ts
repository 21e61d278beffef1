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

test('new sessions come first, in the order of time', () => {
  const merged = mergeArrivals(pages([session('b', 20), session('a', 10)]), [
    session('d', 40),
    session('c', 30),
  ])
  expect(names(merged)).toEqual([['d', 'c', 'b', 'a']])
})

test('one that began earlier but is heard of late takes its place', () => {
  const merged = mergeArrivals(pages([session('c', 30), session('a', 10)]), [session('b', 20)])
  expect(names(merged)).toEqual([['c', 'b', 'a']])
})

test('those that are there change where they are, on whatever page', () => {
  const merged = mergeArrivals(pages([session('b', 20)], [session('a', 10)]), [session('a', 10, 'a ended')])
  expect(names(merged)).toEqual([['b'], ['a ended']])
  expect(idsOf(merged)).toEqual(new Set(['b', 'a']))
})

test('an empty list takes the first one', () => {
  expect(names(mergeArrivals(pages([]), [session('a', 1)]))).toEqual([['a']])
})
