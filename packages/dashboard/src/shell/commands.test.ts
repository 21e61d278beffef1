import { expect, test } from 'vitest'
import type { SessionSummary } from '@playhead/model'
import { findCommands } from './commands.ts'

const session = { id: 'a'.repeat(32), name: 'Refund', endState: 'fail' } as SessionSummary
const known = { sessions: [session], projects: [{ id: 'default', name: 'Default' }] }
const labels = (typed: string, more: Partial<typeof known> = {}) =>
  findCommands(typed, { ...known, ...more }).map(({ label }) => label)

test('with nothing typed: recent sessions, pages, themes', () => {
  expect(labels('').slice(0, 3)).toEqual(['Refund', 'Overview', 'Sessions'])
  expect(labels('').at(-1)).toBe('Theme: as the system has it')
})

test('what is typed finds pages and themes, whatever the case', () => {
  expect(labels('KEYS', { sessions: [] })).toEqual(['Settings: keys', 'Find sessions with “KEYS”'])
  expect(labels('dark', { sessions: [] })).toEqual(['Theme: dark', 'Find sessions with “dark”'])
})

test('an id, or its beginning, opens the session', () => {
  expect(findCommands('s_ab12', { ...known, sessions: [] })[0]?.target).toEqual({
    kind: 'session',
    sessionId: 'ab12',
  })
})

test('words can be looked for in all sessions', () => {
  expect(findCommands('charged twice', { ...known, sessions: [] })[0]?.target).toEqual({
    kind: 'filter',
    filter: 'charged twice',
  })
})

test('projects are offered when there are several', () => {
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
