import * as playhead from 'playhead'
import { atModelSpeed } from './at-model-speed.ts'
import { answerAsSupport } from './model-script.ts'
import { runSupportAgent } from './run-support-agent.ts'
import { useScriptedModel } from './use-scripted-model.ts'

playhead.init({ serviceName: 'support-agent' })

// Without an API key, a scripted local model answers.
const model = process.env.OPENAI_API_KEY ? undefined : await useScriptedModel(atModelSpeed(answerAsSupport))

try {
  console.log(await runSupportAgent(process.argv[2] ?? 'I was charged twice for my subscription'))
} catch (error) {
  console.log(`The agent failed: ${String(error)}`)
  process.exitCode = 1
}
const session = playhead.getSession()
console.log(`Cost: $${session.cost}. Replay: ${session.url}`)

await playhead.flush()
await model?.stop()
