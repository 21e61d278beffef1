import { expect, test } from 'vitest'
import type { StepOutline } from '@playhead/model'
import { RecentCalls } from './recent-calls.ts'

const outline: StepOutline = {
  sessionId: 's',
  id: '1',
  parentId: null,
  isParentRemote: false,
  startedAtMs: 1,
  endedAtMs: 2,
  kind: 'llm',
  name: 'chat gpt-4o',
  dialect: 'otel-genai',
  status: 'ok',
  responseId: 'r',
}

test('remembers a call for two to four minutes', () => {
  let nowMs = 0
  const recent = new RecentCalls(() => nowMs)
  recent.remember('p', 'r', [recent.describe(outline)])
  nowMs = 119_000
  recent.remember('p', 'later', [])
  nowMs = 121_000
  recent.remember('p', 'even later', [])
  expect(recent.of('p', 'r')).toMatchObject([{ id: '1', name: 'chat gpt-4o' }])
  expect(recent.of('another project', 'r')).toEqual([])
  nowMs = 242_000
  recent.remember('p', 'last', [])
  expect(recent.of('p', 'r')).toEqual([])
})

test('a call that arrives again is stored once, with a new age', () => {
  let nowMs = 0
  const recent = new RecentCalls(() => nowMs)
  recent.remember('p', 'r', [recent.describe(outline)])
  nowMs = 121_000
  recent.remember('p', 'other', [])
  recent.remember('p', 'r', [recent.describe(outline)])
  expect(recent.size).toBe(2)
})

test('remembers at most a hundred thousand calls, however fast they arrive', () => {
  const recent = new RecentCalls(() => 0)
  for (let index = 0; index < 250_000; index++) recent.remember('p', `r${index}`, [])
  expect(recent.size).toBeLessThanOrEqual(100_000)
  expect(recent.size).toBeGreaterThanOrEqual(50_000)
})

test('keeps only the latest of many calls with the same response id', () => {
  const recent = new RecentCalls()
  for (let index = 0; index < 1_000; index++)
    recent.remember('p', 'r', [...recent.of('p', 'r'), { ...recent.describe(outline), id: String(index) }])
  const ids = recent.of('p', 'r').map(({ id }) => id)
  expect(ids).toHaveLength(32)
  expect(ids.at(-1)).toBe('999')
})
