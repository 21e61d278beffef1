import { setTimeout as sleep } from 'node:timers/promises'
import * as playhead from 'playhead'
import { atModelSpeed } from './at-model-speed.ts'
import { askForSecondRefund } from './demo/ask-for-second-refund.ts'
import { investigateOrder } from './demo/investigate-order.ts'
import { answerInDemo, embed, readReceiptImage, refuseOnce } from './demo/model-script.ts'
import { readReceipt } from './demo/read-receipt.ts'
import { searchInCircles } from './demo/search-help.ts'
import { answerAsSupport } from './model-script.ts'
import { runSupportAgent } from './run-support-agent.ts'
import { useScriptedModel } from './use-scripted-model.ts'

const BETWEEN_MS = 350
const BUSY = 'My invoice from 1 November looks wrong, account c_77'

/** Messages from different customers. */
const runs: (() => Promise<string>)[] = [
  async () => {
    await runSupportAgent('There is a duplicate charge on my account c_42', { threadId: 't_ada' })
    return runSupportAgent('Then I want a refund for INV-2292, account c_42', { threadId: 't_ada' })
  },
  () => runSupportAgent('Which plans are there, and can I change later?', { userId: 'c_15' }),
  () => readReceipt('How much was it, and where?'),
  () =>
    runSupportAgent('Is there an app for my phone?', { model: 'tidewater-support-7b', tags: ['own model'] }),
  () => investigateOrder('Where is my order o_9001, and what are the 11.20 dollars for?'),
  () => searchInCircles('How do I share a calendar with somebody?'),
  () => runSupportAgent(BUSY, { userId: 'c_77' }),
  () => askForSecondRefund('Please pay back INV-2310 once more.'),
  () => runSupportAgent('You billed me twice this month', { userId: 'c_42' }),
]

playhead.init({ serviceName: 'support-agent' })
const model = await useScriptedModel(
  [refuseOnce(BUSY), embed, readReceiptImage, answerInDemo, answerAsSupport].map(atModelSpeed),
)
// Starts one after the other. A failing agent is part of the demo.
await Promise.allSettled(
  runs.map(async (run, index) => {
    await sleep(index * BETWEEN_MS)
    return run()
  }),
)
// The newest session is the one that shows a replay best.
await Promise.allSettled([
  runSupportAgent('I was charged twice for my subscription', { fault: 'customer_id' }),
])
await model.stop()
if (!(await playhead.flush())) throw new Error('The demo could not be delivered.')
