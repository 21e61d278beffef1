import fc from 'fast-check'
import { expect, test } from 'vitest'
import { agentOpsEventToItems } from './agentops-events.ts'
import { agentOpsSessionToSpan, agentOpsStepId } from './agentops-session.ts'
import { spanToStep } from '../dialects/drafts/span-to-step.ts'
import { logToDraft } from '../dialects/logs/log-to-draft.ts'

const context = { sessionId: 'ab'.repeat(16), receivedAtNs: 1_700_000_000_000_000_000n }

/** Events as a stranger might send them: the right keys, anything in them. */
const anyEvent = fc.record(
  {
    id: fc.oneof(fc.uuid(), fc.anything()),
    event_type: fc.oneof(fc.constantFrom('llms', 'actions', 'tools', 'errors', 'apis'), fc.anything()),
    session_id: fc.oneof(fc.uuid(), fc.anything()),
    agent_id: fc.anything(),
    init_timestamp: fc.anything(),
    end_timestamp: fc.anything(),
    params: fc.anything(),
    returns: fc.anything(),
    prompt: fc.anything(),
    completion: fc.anything(),
    logs: fc.anything(),
    details: fc.jsonValue(),
    error_type: fc.anything(),
    trigger_event_id: fc.anything(),
    data: fc.anything(),
  },
  { requiredKeys: [] },
)

test('any event becomes steps or a reason for rejection', () => {
  fc.assert(
    fc.property(fc.oneof(anyEvent, fc.anything()), (event) => {
      const items = agentOpsEventToItems(event, context)
      if (typeof items === 'string') return items !== ''
      for (const span of items.spans) expect(spanToStep(span).outline.sessionId).toMatch(/^[0-9a-f]{32}$/)
      for (const log of items.logs) logToDraft(log)
      return items.spans.length + items.logs.length > 0
    }),
    { numRuns: 300 },
  )
})

test('any session object becomes a root or a reason for rejection', () => {
  const anySession = fc.dictionary(
    fc.constantFrom('session_id', 'id', 'init_timestamp', 'end_timestamp', 'end_state', 'tags', 'host_env'),
    fc.anything(),
  )
  fc.assert(
    fc.property(anySession, (session) => {
      const span = agentOpsSessionToSpan(session, context.receivedAtNs)
      const isHex = (id: unknown, digits: number) => new RegExp(`^[0-9a-f]{${digits}}$`).test(String(id))
      if (typeof span === 'string') expect(span).not.toBe('')
      else {
        const { sessionId, id, parentId } = spanToStep(span).outline
        expect([isHex(sessionId, 32), isHex(id, 16), parentId]).toEqual([true, true, null])
      }
    }),
    { numRuns: 200 },
  )
})

test('ids that differ only in one half are different steps', () => {
  const ids = [
    '00000001-0000-1000-8000-000000000001',
    '00000002-0000-1000-8000-000000000001',
    '00000001-0000-1000-8000-000000000002',
    'not a uuid',
  ]

  const steps = ids.map(agentOpsStepId)

  expect(new Set(steps).size).toBe(4)
  expect(steps.every((id) => /^[0-9a-f]{16}$/.test(id))).toBe(true)
})

test('the failed function of a stack is the first that the decorator called', () => {
  const logs = `Traceback (most recent call last):
  File "/venv/agentops/decorators.py", line 128, in sync_wrapper
    returns = func(*args, **kwargs)
  File "/app/agent.py", line 9, in outer
    inner()
  File "/venv/agentops/decorators.py", line 128, in sync_wrapper
    returns = func(*args, **kwargs)
  File "/app/agent.py", line 5, in inner
    raise KeyError("k")
KeyError: 'k'
`
  const event = { id: 'e', event_type: 'errors', error_type: 'KeyError', details: "'k'", logs }

  const items = agentOpsEventToItems(event, context)

  expect(typeof items !== 'string' && items.spans[0]!.name).toBe('outer')
})
