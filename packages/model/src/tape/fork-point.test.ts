import { expect, test } from 'vitest'
import type { Session } from '../session/session.ts'
import type { Step } from '../session/step.ts'
import { findForkPoint, whyNotEditable } from './fork-point.ts'

const step = { parentId: null, startedAt: '2026-11-16T09:00:00.000Z', status: 'ok', dialect: 'playhead' }
const steps = [
  { ...step, id: 'root', kind: 'workflow', name: 'support' },
  { ...step, id: 'call', kind: 'llm', name: 'chat', model: 'gpt-4o', messages: [], parentId: 'root' },
  { ...step, id: 'agent', kind: 'agent', name: 'billing', parentId: 'root' },
  { ...step, id: 'action', kind: 'action', name: 'extract_id', parentId: 'agent' },
  { ...step, id: 'event', kind: 'event', name: 'done', parentId: 'root' },
] as Partial<Step>[] as Step[]
const session: Session = { session: { id: 'a' } as Session['session'], steps }

test('a fork begins at its step, or at the next one that is asked for', () => {
  const at = (id: string) => findForkPoint(session, id)?.step.id
  expect(['root', 'call', 'agent', 'action', 'event', 'unknown'].map(at)).toEqual([
    'call',
    'call',
    'action',
    'action',
    undefined,
    undefined,
  ])
})

test('a model call and an action take different edits', () => {
  const why = (index: number, edit: object) => whyNotEditable(session, steps[index]!, edit)
  expect(why(1, { system: 'a', prompt: 'b', model: 'c', result: 'd' })).toBeUndefined()
  expect(why(3, { result: null })).toBeUndefined()
  expect(why(3, { args: {}, model: 'gpt-5' })).toBeUndefined()
  expect(why(2, {})).toBeUndefined()
  expect(why(1, { args: {} })).toBe('Step 2 (gpt-4o) is a model call, which has no arguments to change.')
  expect(why(3, { system: 'a' })).toBe(
    'Step 4 (extract_id) is an action, which has no system prompt to change.',
  )
  expect(why(2, { result: 1 })).toBe(
    'Step 3 (billing) has no result to change. The next step that has one is 4 (extract_id).',
  )
  expect(why(4, {})).toBe('Step 5 (done) can’t be run again: no model call or recorded action follows it.')
})
