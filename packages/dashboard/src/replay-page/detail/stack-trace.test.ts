import { expect, test } from 'vitest'
import { parseStack, ownFrameOf, withShortPath } from './stack-trace.ts'

const javaScript = `ValueError: customer_id cannot be null
    at fetchCustomerData (file:///home/ada/support-bot/src/agent.ts:41:11)
    at async recordAction (file:///home/ada/support-bot/node_modules/playhead/dist/action.js:88:20)
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)`

const python = `Traceback (most recent call last):
  File "/home/ada/bot/main.py", line 9, in <module>
    run()
  File "/home/ada/bot/.venv/lib/python3.12/site-packages/x/call.py", line 3, in call
  File "/home/ada/bot/agent.py", line 41, in fetch_customer_data
    raise ValueError("customer_id cannot be None")
ValueError: customer_id cannot be None`

test('frames of the user are separated from libraries and the runtime', () => {
  const { own, library } = parseStack(javaScript)
  expect(own).toEqual([
    { text: 'at fetchCustomerData (/home/ada/support-bot/src/agent.ts:41:11)', isLibrary: false },
  ])
  expect(library).toHaveLength(2)
  expect(ownFrameOf(javaScript)).toBe('agent.ts:41')
})

test('a Python trace is parsed from its end, with source lines', () => {
  const { own, library } = parseStack(python)
  expect(own).toEqual([
    {
      text: 'at fetch_customer_data (/home/ada/bot/agent.py:41)',
      source: 'raise ValueError("customer_id cannot be None")',
      isLibrary: false,
    },
    { text: 'at <module> (/home/ada/bot/main.py:9)', source: 'run()', isLibrary: false },
  ])
  expect(library).toHaveLength(1)
})

test('plain text is not a stack trace', () => {
  expect(parseStack('it went wrong').isParsed).toBe(false)
  expect(ownFrameOf('it went wrong')).toBeUndefined()
})

test.each([
  ['at run (/home/ada/support-bot/src/agent.ts:41:11)', 'at run (…/support-bot/src/agent.ts:41:11)'],
  ['at /home/ada/support-bot/src/agent.ts:41:11', 'at …/support-bot/src/agent.ts:41:11'],
  [String.raw`at run (C:\work\bot\src\agent.ts:41:11)`, String.raw`at run (…/bot\src\agent.ts:41:11)`],
  ['at run (/src/agent.ts:41:11)', 'at run (/src/agent.ts:41:11)'],
  ['at run (agent.ts:41:11)', 'at run (agent.ts:41:11)'],
])('%s is shown as %s', (frame, shown) => {
  expect(withShortPath(frame)).toBe(shown)
})
