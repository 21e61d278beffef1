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

test('a call that arrives again is remembered once, with a new age', () => {
  let nowMs = 0
  const recent = new RecentCalls(() => nowMs)
  for (const minute of [0, 2.1, 4.2]) {
    nowMs = minute * 60_000
    recent.remember('p', 'other', [{ ...recent.describe(outline), startedAtMs: nowMs }])
    expect(recent.compare('p', outline)).toEqual([])
  }
  expect(recent.of('p', 'r')).toMatchObject([{ id: '1' }])
})

test('many reports under one response id do not fill the memory', () => {
  const recent = new RecentCalls()
  const before = process.memoryUsage().arrayBuffers
  for (let index = 0; index < 40_000; index++)
    recent.compare('p', { ...outline, id: String(index), requestedModel: 'm'.repeat(100) })
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * 1024 ** 2)
  expect(recent.of('p', 'r')).toHaveLength(32)
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

test('a call is remembered as it was', () => {
  const recent = new RecentCalls()
  const calls = [
    recent.describe(outline),
    { ...recent.describe({ ...outline, parentId: '7', reporter: 'r', model: 'm' }), twin: 's 1' },
    { ...recent.describe(outline), usage: { input: 0, output: 5 }, outputPreview: 'hi' },
  ]
  recent.remember('p', 'r', calls)
  expect(recent.of('p', 'r')).toStrictEqual(calls)
})
