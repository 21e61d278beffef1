import { CodeBlock } from '../ui/data/code-block.tsx'
import './no-tests.css'

const EXAMPLE = `import { test, expect } from 'playhead/vitest'

test('a billing question is answered from customer data', async ({ session }) => {
  await runSupportAgent('I was charged twice for my subscription')
  expect(session).toHaveCalled('fetch_customer_data')
  expect(session).toCostLessThan(0.01)
})`

/** How tests get here. */
export function NoTests() {
  return (
    <div className="no-tests">
      <h2>Tests appear here when they run</h2>
      <p className="dim">
        Every test gets a session of its own, named after the test and ended as the test ended. From then on
        you see how often it passes, what it costs, and the replay of every run.
      </p>
      <CodeBlock label="a test" text={EXAMPLE} />
      <p className="dim">
        With <code>test.agent</code> one intent is tried in many phrasings, several times each; the test then
        opens as a table of inputs and attempts.
      </p>
    </div>
  )
}
