import { expect, test } from 'vitest'
import { createRepairPace } from './start-engine.ts'

test('the first damage is repaired at once, more of it ever more rarely', () => {
  let nowMs = 0
  const mayRepair = createRepairPace(() => nowMs)
  const repairedAtMs: number[] = []
  for (; nowMs < 300_000; nowMs += 1_000) if (mayRepair()) repairedAtMs.push(nowMs)
  expect(repairedAtMs).toEqual([0, 30_000, 90_000, 210_000])
})
