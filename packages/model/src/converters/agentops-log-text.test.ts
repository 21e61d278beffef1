import { expect, test } from 'vitest'
import { agentOpsLogToRecords, correctLogTimes } from './agentops-log-text.ts'
import { logToDraft } from '../dialects/logs/log-to-draft.ts'

const noon = Date.UTC(2026, 5, 1, 12)
const HOUR = 3_600_000

function linesAt(...timesMs: number[]) {
  const stamp = (ms: number) =>
    new Date(ms).toISOString().replace('T', ' ').replace('.', ',').replace('Z', '')
  const text = timesMs.map((ms) => `${stamp(ms)} - INFO - x`).join('\n')
  return agentOpsLogToRecords(text, { sessionId: 'ab'.repeat(16), receivedAtNs: 0n }).map((record) => {
    const { outline, content } = logToDraft(record)
    return { ...outline, content }
  })
}

function offsets(linesMs: number[], session: [startMs: number, endMs: number]): number[] {
  const [startedAtMs, endedAtMs] = session
  return correctLogTimes(linesAt(...linesMs), [{ startedAtMs, endedAtMs }]).map(
    (log) => log.atMs - startedAtMs,
  )
}

test.each([0, -5, 9, 5.5, 5.75, -9.5, 13])('a clock %d hours from UTC is corrected', (zone) => {
  const lines = [1_000, 20_000].map((ms) => noon + ms + zone * HOUR)

  expect(offsets(lines, [noon, noon + 30_000])).toEqual([1_000, 20_000])
})

test('lines that a long session printed at its start stay there', () => {
  expect(offsets([noon + 1_000], [noon, noon + HOUR / 2])).toEqual([1_000])
})

test('lines from before the first step stay before it', () => {
  expect(offsets([noon - 30_000, noon + 5_000], [noon, noon + 10_000])).toEqual([-30_000, 5_000])
})

test('records with exact times stay unchanged', () => {
  const [log] = linesAt(noon)
  const sure = { ...log!, content: { body: 'x', attributes: {} } }

  expect(correctLogTimes([sure], [{ startedAtMs: noon + 5 * HOUR, endedAtMs: null }])).toEqual([sure])
})
