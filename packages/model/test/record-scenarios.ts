import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as playhead from 'playhead'
import { askForSecondRefund } from '../../../examples/support-agent/src/demo/ask-for-second-refund.ts'
import { investigateOrder } from '../../../examples/support-agent/src/demo/investigate-order.ts'
import { answerInDemo, embed } from '../../../examples/support-agent/src/demo/model-script.ts'
import { searchInCircles } from '../../../examples/support-agent/src/demo/search-help.ts'
import { answerAsSupport } from '../../../examples/support-agent/src/model-script.ts'
import { runSupportAgent } from '../../../examples/support-agent/src/run-support-agent.ts'
import { useScriptedModel } from '../../../examples/support-agent/src/use-scripted-model.ts'
import { parseRecording } from '../src/recording/recording.ts'

/** The questions to the support agent; the corpus is made from recordings of its replies. */
const scenarios: Record<string, () => Promise<string>> = {
  'billing-named': () => runSupportAgent('There is a duplicate charge on my account c_42'),
  'billing-signed-in': () => runSupportAgent('I was charged twice for my subscription'),
  'billing-other': () => runSupportAgent('My invoice from 1 November looks wrong, account c_77'),
  'billing-fault': () => runSupportAgent('I was charged twice for my subscription', { fault: 'customer_id' }),
  'billing-costly': () => runSupportAgent('You billed me twice this month', { fault: 'cost' }),
  refund: () => runSupportAgent('Then I want a refund for INV-2292, account c_42'),
  'refund-refused': () => askForSecondRefund('Please pay back INV-2310 once more.'),
  plans: () => runSupportAgent('Which plans are there, and can I change later?'),
  order: () => investigateOrder('Where is my order o_9001, and what are the 11.20 dollars for?'),
  help: () => searchInCircles('How do I share a calendar with somebody?'),
}

const root = new URL('../../../', import.meta.url).href
const folder = fileURLToPath(new URL('scenarios/', import.meta.url))
const recordings = await mkdtemp(join(tmpdir(), 'playhead-'))
playhead.init({ dir: recordings, silent: true })
const model = await useScriptedModel([embed, answerInDemo, answerAsSupport])
for (const [name, run] of Object.entries(scenarios)) {
  await run().catch(() => undefined)
  await playhead.flush()
  const [file] = await readdir(recordings)
  const parsed = parseRecording(JSON.parse(await readFile(join(recordings, file!), 'utf8')))
  await rm(join(recordings, file!))
  if ('problem' in parsed) throw new Error(parsed.problem)
  const { session, steps } = parsed.session
  const lean = steps.map(({ attributes: _attributes, streaming: _streaming, logs: _logs, ...step }) => step)
  const lines = lean.map((step) => JSON.stringify(step)).join(',\n')
  await writeFile(
    join(folder, `${name}.json`),
    // Hides the path of the repository.
    `{"session":${JSON.stringify(session)},\n"steps":[\n${lines}\n]}\n`.replaceAll(root, 'file:///agent/'),
  )
}
await rm(recordings, { recursive: true })
await model.stop()
