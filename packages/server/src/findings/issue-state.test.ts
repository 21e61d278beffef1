import { expect, test } from 'vitest'
import { compareVersions, stateOf, type Decision, type VersionCount } from './issue-state.ts'

const decision = (change: Partial<Decision>): Decision => ({
  state: 'resolved',
  resolvedVersion: '',
  decidedAtMs: 1_000,
  ignoredUntil: 0,
  note: '',
  ...change,
})

const seen = (version: string, atMs: number, sessions = 1): VersionCount => ({
  version,
  sessions,
  firstSeenMs: atMs,
  lastSeenMs: atMs,
})

test('an issue that nobody decided about is open', () => {
  expect(stateOf(undefined, [seen('1', 10)], new Map())).toBe('open')
})

test('an issue that is resolved in a version opens again in a later one, not in an older one', () => {
  const resolved = decision({ resolvedVersion: '2.0.0' })
  expect(stateOf(resolved, [seen('1.9.0', 5_000), seen('2.0.0', 5_000)], new Map())).toBe('resolved')
  expect(stateOf(resolved, [seen('2.0.0', 500), seen('2.0.1', 5_000)], new Map())).toBe('reopened')
  expect(stateOf(resolved, [seen('10.0.0', 5_000)], new Map())).toBe('reopened')
})

test('commits are ordered by when they were first seen', () => {
  const resolved = decision({ resolvedVersion: 'b2f' })
  const history = new Map([
    ['a1e', 100],
    ['b2f', 200],
    ['c3d', 300],
  ])
  expect(stateOf(resolved, [seen('a1e', 5_000)], history)).toBe('resolved')
  expect(stateOf(resolved, [seen('c3d', 5_000)], history)).toBe('reopened')
})

test('without versions, an issue opens again when it is seen after it was resolved', () => {
  expect(stateOf(decision({}), [seen('', 900)], new Map())).toBe('resolved')
  expect(stateOf(decision({}), [seen('', 1_100)], new Map())).toBe('reopened')
})

test('an ignored issue opens again after as many sessions as somebody said, or never', () => {
  const ignored = decision({ state: 'ignored', ignoredUntil: 10 })
  expect(stateOf(ignored, [seen('1', 5_000, 9)], new Map())).toBe('ignored')
  expect(stateOf(ignored, [seen('1', 5_000, 6), seen('2', 5_000, 4)], new Map())).toBe('reopened')
  expect(stateOf(decision({ state: 'ignored' }), [seen('1', 5_000, 900)], new Map())).toBe('ignored')
})

test('versions compare by their numbers, and a prerelease comes before its release', () => {
  expect(compareVersions('1.10.0', '1.9.3')).toBeGreaterThan(0)
  expect(compareVersions('v2', '2.0.0')).toBe(0)
  expect(compareVersions('2.0.0-beta.1', '2.0.0')).toBeLessThan(0)
  expect(compareVersions('main', '2.0.0')).toBeUndefined()
})
