import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as playhead from 'playhead'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { hex, tracesPayload } from '../../../server/test/otlp.ts'
import { startTestServer, type TestServer } from '../../../server/test/test-server.ts'
import { recordPlainTest } from '../../src/testing/runs/record-plain-test.ts'
import { joinTestRun } from '../../src/testing/runs/test-run.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
  process.env.PLAYHEAD_ENDPOINT = server.url
  process.env.PLAYHEAD_RUN_DIR = await mkdtemp(join(tmpdir(), 'playhead-last-pass-'))
})
afterAll(async () => {
  await playhead.shutdown()
  await server.stop()
  await rm(joinTestRun().folder, { recursive: true, force: true })
})

const attempt = { file: 'billing.test.ts', name: 'fetches the customer', attempt: 1 }

function runAgent(customerId: string | null): void {
  const fetchCustomer = playhead.recordAction(
    { name: 'fetch_customer_data', effect: 'read', parameters: ['customer_id'] },
    (id: string | null) => {
      if (id === null) throw new Error('customer_id cannot be null')
    },
  )
  fetchCustomer(customerId)
}

/** A later success that is only a try. */
function passingRerun() {
  const startMs = Date.now() + 1000
  const attributes = {
    'playhead.test.name': attempt.name,
    'playhead.test.file': attempt.file,
    'playhead.session.end_state': 'Success',
    'playhead.rerun.parent': hex(16),
  }
  return { name: attempt.name, startMs, endMs: startMs + 1, attributes }
}

test('a failed test shows where it diverged from its last passing run', async () => {
  await expect(recordPlainTest(attempt, () => runAgent(null))).rejects.toThrow(
    /^customer_id cannot be null\n\nSuspect: Step 2 fetch_customer_data failed: Error: customer_id cannot be null\.$/,
  )
  await recordPlainTest(attempt, () => runAgent('c_42'))
  await playhead.flush()
  await server.postTraces(tracesPayload([passingRerun()]))

  // A failed test waits only briefly for the comparison, so a busy server may need another try.
  await vi.waitFor(
    () =>
      expect(recordPlainTest(attempt, () => runAgent(null))).rejects.toThrow(
        'customer_id cannot be null\n\nfirst divergence from the last passing run: step 2 fetch_customer_data, argument customer_id null instead of "c_42"',
      ),
    { timeout: 60_000 },
  )
})
