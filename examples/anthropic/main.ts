import { callTool, inTurns, startScriptedModel } from '@playhead/scripted-model'
import * as playhead from 'playhead'
import { support } from './agent.ts'

playhead.init({ serviceName: 'example-anthropic' })

// Without an API key, a scripted local model answers.
const model = process.env.ANTHROPIC_API_KEY ? undefined : await startScriptedModel(script())
if (model !== undefined) process.env.ANTHROPIC_BASE_URL = model.url

console.log(await support('I was charged twice for my subscription'))
const session = playhead.getSession()
console.log(`Cost: $${session.cost}. Replay: ${session.url}`)

await playhead.flush()
await model?.stop()

function script() {
  return inTurns(
    {
      ...callTool('fetch_customer_data', { customerId: 'c_42' }),
      reasoning: 'I have to look at the charges.',
    },
    {
      text: 'You were charged once, Ada. The second line is a hold that goes away by itself.',
      usage: { input: 900, output: 24, cacheRead: 800 },
    },
  )
}
