import * as playhead from 'playhead'
import { answerAsSupport } from '../examples/support-agent/src/model-script.ts'
import { runSupportAgent } from '../examples/support-agent/src/run-support-agent.ts'
import { useScriptedModel } from '../examples/support-agent/src/use-scripted-model.ts'

/** One intent in six phrasings. */
const phrasings = [
  'I was charged twice for my subscription',
  'There is a duplicate charge on my account c_42',
  'You billed me double this month',
  'Why are there two charges on my card?',
  'My invoice from November looks wrong',
  'I think I was charged two times, please have a look',
]

export const billingTest = {
  file: 'support.test.ts',
  suite: 'support agent',
  name: 'understands billing, however it is put',
}

/** Tests the example agent with six phrasings: once with a good prompt, and once with a worse one, with which two fail. */
export async function recordBillingVariants(endpoint: string): Promise<void> {
  playhead.init({ endpoint, serviceName: 'support-agent', silent: true })
  const model = await useScriptedModel(answerAsSupport)
  for (const [runId, fault] of [
    ['run-1', undefined],
    ['run-2', 'intent'],
  ] as const)
    for (const variant of phrasings)
      await playhead
        .withSession({ name: billingTest.name, test: { ...billingTest, variant, runId } }, (session) =>
          testPhrasing(variant, fault, session),
        )
        .catch(() => undefined)
  await playhead.flush()
  await model.stop()
}

async function testPhrasing(
  message: string,
  fault: string | undefined,
  session: playhead.SessionView,
): Promise<void> {
  await runSupportAgent(message, { fault })
  const tools = session.actionEvents.map(({ actionType }) => actionType)
  if (!tools.includes('fetch_customer_data'))
    throw new Error(`expected fetch_customer_data to be called; called: ${tools.join(', ')}`)
}
