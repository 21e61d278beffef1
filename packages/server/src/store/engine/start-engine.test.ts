import { expect, test } from 'vitest'
import { createRepairLimit } from './start-engine.ts'

test('repairs the first damage at once, then waits longer each time', () => {
  let nowMs = 0
  const mayRepair = createRepairLimit(() => nowMs)
  const repairedAtMs: number[] = []
  for (; nowMs < 300_000; nowMs += 1_000) if (mayRepair()) repairedAtMs.push(nowMs)
  expect(repairedAtMs).toEqual([0, 30_000, 90_000, 210_000])
})
