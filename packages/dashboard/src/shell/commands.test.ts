import { expect, test } from 'vitest'
import type { SessionSummary } from '@playhead/model'
import { findCommands } from './commands.ts'

const session = { id: 'a'.repeat(32), name: 'Refund', endState: 'fail' } as SessionSummary
const known = { sessions: [session], projects: [{ id: 'default', name: 'Default' }] }
const labels = (typed: string, more: Partial<typeof known> = {}) =>
  findCommands(typed, { ...known, ...more }).map(({ label }) => label)

test('without text: recent sessions, pages and themes', () => {
  expect(labels('').slice(0, 3)).toEqual(['Refund', 'Overview', 'Sessions'])
  expect(labels('').at(-1)).toBe('Theme: system')
})

test('finds pages and themes, ignoring case', () => {
  expect(labels('KEYS', { sessions: [] })).toEqual(['Settings: keys', 'Search sessions for “KEYS”'])
  expect(labels('dark', { sessions: [] })).toEqual(['Theme: dark', 'Search sessions for “dark”'])
})

test('an id or its prefix opens the session', () => {
  expect(findCommands('s_ab12', { ...known, sessions: [] })[0]?.target).toEqual({
    kind: 'session',
    sessionId: 'ab12',
  })
})

test('searches all sessions for words', () => {
  expect(findCommands('charged twice', { ...known, sessions: [] })[0]?.target).toEqual({
    kind: 'filter',
    filter: 'charged twice',
  })
})

test('offers projects if there are several', () => {
  expect(labels('project')).not.toContain('Project: Default')
  expect(
    labels('project', {
      projects: [
        { id: 'default', name: 'Default' },
        { id: 'shop', name: 'Shop' },
      ],
    }),
  ).toContain('Project: Shop')
})
