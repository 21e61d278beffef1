import { defineConfig, type SessionSummary } from 'playhead'
import { investigateOrder } from './src/demo/investigate-order.ts'
import { readReceipt } from './src/demo/read-receipt.ts'
import { searchInCircles } from './src/demo/search-help.ts'
import { runSupportAgent, type SupportOptions } from './src/run-support-agent.ts'
import { withModel } from './src/with-model.ts'

/** How Playhead starts these agents when a recorded session is run again: `npx playhead rerun last`. */
export default defineConfig({
  agents: {
    support: {
      run: (input) => withModel(() => runSupportAgent(input.text, optionsOf(input.session))),
      // What says nothing about its effect is treated as a write, and stubbed in forks.
      effects: { classify_intent: 'read', extract_customer_id: 'read', write_reply: 'read' },
    },
    'order investigation': { run: (input) => withModel(() => investigateOrder(input.text)) },
    'help center': { run: (input) => withModel(() => searchInCircles(input.text)) },
    receipts: { run: (input) => withModel(() => readReceipt(input.text)) },
  },
})

/** The options of the recorded run. `SUPPORT_AGENT_FAULT=none` runs a session of the demo without its fault. */
function optionsOf({ metadata = {} }: SessionSummary): SupportOptions {
  const { fault, model } = metadata
  return {
    fault: process.env.SUPPORT_AGENT_FAULT ?? (typeof fault === 'string' ? fault : undefined),
    ...(typeof model === 'string' && { model }),
  }
}
