import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as playhead from 'playhead'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { planAgentTest, runAgentTest } from '../../src/testing/runs/run-agent-test.ts'
import { joinTestRun } from '../../src/testing/runs/test-run.ts'

beforeAll(async () => {
  process.env.PLAYHEAD_RUN_DIR = await mkdtemp(join(tmpdir(), 'playhead-agent-test-'))
})
afterAll(async () => {
  await playhead.shutdown()
  await rm(joinTestRun().folder, { recursive: true, force: true })
})

test('a failed input shows where it diverged from a passing one', async () => {
  const extract = playhead.recordAction('extract_id', (message: string) => /c_\d+/.exec(message)?.[0] ?? null)
  const fetchCustomer = playhead.recordAction(
    { name: 'fetch_customer_data', effect: 'read', parameters: ['customer_id'] },
    (id: string | null) => {
      if (id === null) throw new Error('customer_id cannot be null')
      return { id }
    },
  )
  const plan = planAgentTest({ inputs: ['charged twice, c_42', 'two charges on my card'] }, '')

  const failing = runAgentTest({ name: 'billing' }, plan, ({ input }) => fetchCustomer(extract(input)))

  await expect(failing).rejects.toThrow(
    'first divergence from a passing run: step 2 extract_id, returned null instead of "c_42"',
  )
})
