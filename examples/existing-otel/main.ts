import { inTurns, startScriptedModel } from '@playhead/scripted-model'
import * as playhead from 'playhead'
import { exporter, ownProcessor, sdk, support } from './agent.ts'

// Without an API key, a scripted local model answers.
const model = process.env.OPENAI_API_KEY ? undefined : await startScriptedModel(inTurns('Yes, once.'))
if (model !== undefined) process.env.OPENAI_BASE_URL = `${model.url}/v1`

console.log(await support('Was invoice in_7 charged?'))
const session = playhead.getSession()
console.log(`${session.steps.length} steps: ${session.url}`)

await ownProcessor.forceFlush()
const names = exporter.getFinishedSpans().map(({ name }) => name)
console.log(`The application's own exporter received: ${names.join(', ')}`)

await playhead.flush()
await sdk.shutdown()
await model?.stop()
