import * as playhead from 'playhead'
import { startScriptedModel } from '@playhead/scripted-model'
import { answerAsSupport } from './model-script.ts'
import { runSupportAgent } from './run-support-agent.ts'

playhead.init()

const model =
  process.env.OPENAI_BASE_URL === undefined ? await startScriptedModel(answerAsSupport) : undefined
if (model !== undefined) process.env.OPENAI_BASE_URL = `${model.url}/v1`

const message = process.argv[2] ?? 'I was charged twice for my subscription'
try {
  process.stdout.write(`${await runSupportAgent(message)}\n`)
} catch (error) {
  process.stdout.write(`The agent failed: ${String(error)}\n`)
  process.exitCode = 1
}
process.stdout.write(`${playhead.getSession().url}\n`)
await model?.stop()
