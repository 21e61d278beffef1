import * as playhead from 'playhead'

/** A small agent that fails; `same_agent.py` is the same one, and its replay has to be the same. */
const message = 'I was charged twice for my subscription'

class ValueError extends Error {
  override name = 'ValueError'
}

playhead.init()

async function ask(system: string, question: string): Promise<string> {
  const messages = [
    { role: 'system', content: system },
    { role: 'user', content: question },
  ]
  const response = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer no-key' },
    body: JSON.stringify({ model: 'gpt-4o', messages }),
  })
  const answer = (await response.json()) as { choices: { message: { content: string } }[] }
  return answer.choices[0]!.message.content
}

const classify = playhead.recordAction('classify_intent', (message: string) =>
  ask('Answer with one word: billing, refund or general.', message),
)
const listPlans = playhead.recordTool({ name: 'list_plans', effect: 'read' }, (limit: number) =>
  [{ plan: 'pro', price: 12.5, isOld: false }].slice(0, limit),
)
const fetchCustomer = playhead.recordAction(
  { name: 'fetch_customer_data', effect: 'read', parameters: ['customer_id'] },
  (_customerId: string | null) => {
    throw new ValueError('customer_id is missing')
  },
)
const run = playhead.agent('support', async (message: string) => {
  const intent = await classify(message)
  listPlans(1)
  playhead.record(
    new playhead.ActionEvent({ actionType: 'note', params: { intent }, returns: { isNoted: true } }),
  )
  fetchCustomer(null)
})

playhead.startSession({ name: 'support', tags: ['support', 'v2.1'], metadata: { plan: 'pro' } })
try {
  await run(message)
} catch (error) {
  await playhead.endSession('Fail', { reason: String(error) })
}
process.stdout.write(`${playhead.getSession().url}\n`)
await playhead.flush()
