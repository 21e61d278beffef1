import { expect, test } from 'vitest'
import { stepsBefore, writeAgentPrompt } from '../header/agent-prompt.ts'
import { findErrorPath } from './failures.ts'
import { makeTimeline } from '../../../test/make-session.ts'

const error = { type: 'ValueError', message: 'customer_id cannot be null' }
const timeline = makeTimeline(
  [
    {
      id: 'root',
      kind: 'agent',
      name: 'support',
      durationMs: 100,
      status: 'error',
      error: { ...error, isPropagated: true },
    },
    {
      id: 'ask',
      parentId: 'root',
      kind: 'llm',
      name: 'gpt',
      offsetMs: 1,
      outputPreview: '→ fetch_customer_data(customer_id=null)',
    },
    {
      id: 'extract',
      parentId: 'root',
      name: 'extract_customer_id',
      offsetMs: 20,
      durationMs: 5,
      outputPreview: 'null',
    },
    {
      id: 'inner',
      parentId: 'root',
      kind: 'workflow',
      offsetMs: 30,
      status: 'error',
      error: { ...error, isPropagated: true },
    },
    {
      id: 'fetch',
      parentId: 'inner',
      name: 'fetch_customer_data',
      offsetMs: 31,
      status: 'error',
      error: {
        ...error,
        stack:
          'ValueError: x\n    at fetchCustomer (/app/agent.ts:41:3)\n    at run (/app/node_modules/x/i.js:1:1)',
      },
      hasPayload: true,
      tool: { name: 'fetch_customer_data', arguments: { customer_id: null } },
    },
  ],
  { endState: 'fail' },
)

test('an error is traced down to its owner and up to where it went', () => {
  expect(findErrorPath(timeline, 0)).toEqual({ owner: 4, passedOn: [3, 0] })
  expect(findErrorPath(timeline, 4)).toEqual({ owner: 4, passedOn: [3, 0] })
  expect(findErrorPath(timeline, 1)).toBeUndefined()
})

test('the prompt for a coding agent has the step, its input, its error and the steps before it', () => {
  const prompt = writeAgentPrompt(timeline, timeline.steps[4]!, {
    conversation: [{ role: 'user', parts: [{ type: 'text', text: 'I was charged twice ```x```' }] }],
    url: 'http://127.0.0.1:4318/sessions/aaaa',
    before: stepsBefore(timeline, 4),
  })
  expect(prompt).toContain('`fetch_customer_data` (action) at 00:00.031, inside support › inner')
  expect(prompt).toContain('"customer_id": null')
  expect(prompt).toContain('`customer_id`: null was passed  ← PROBLEM')
  expect(prompt).toContain('ValueError: customer_id cannot be null')
  expect(prompt).toContain('at fetchCustomer (/app/agent.ts:41:3)')
  expect(prompt).toContain('extract_customer_id → "null"')
  expect(prompt).toContain('````\nI was charged twice ```x```\n````')
  expect(prompt).not.toContain('node_modules')
})
