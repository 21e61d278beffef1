import Anthropic from '@anthropic-ai/sdk'
import { callTool, inTurns, startScriptedModel } from '@playhead/scripted-model'
import * as playhead from 'playhead'

playhead.init({ serviceName: 'example-anthropic' })

// Without an API key, a scripted local model answers.
const model = process.env.ANTHROPIC_API_KEY ? undefined : await startScriptedModel(script())
const client = new Anthropic(model === undefined ? {} : { apiKey: 'none', baseURL: model.url })

const customers = { c_42: { name: 'Ada', plan: 'pro', charges: 1 } }

const fetchCustomer = playhead.recordTool(
  { name: 'fetch_customer_data', effect: 'read' },
  async (customerId: keyof typeof customers) => customers[customerId],
)

const tools: Anthropic.Tool[] = [
  {
    name: 'fetch_customer_data',
    description: 'The plan and the charges of a customer',
    input_schema: {
      type: 'object',
      properties: { customerId: { type: 'string' } },
      required: ['customerId'],
    },
  },
]

async function answer(question: string): Promise<string> {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }]
  for (;;) {
    const message = await client.messages
      .stream({
        model: 'claude-haiku-4-5',
        max_tokens: 500,
        system: 'You answer questions about invoices. The customer is c_42.',
        messages,
        tools,
      })
      .finalMessage()
    messages.push({ role: 'assistant', content: message.content })
    const calls = message.content.filter((block) => block.type === 'tool_use')
    if (calls.length === 0)
      return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    const results: Anthropic.ToolResultBlockParam[] = []
    for (const { id, input } of calls) {
      const { customerId } = input as { customerId: keyof typeof customers }
      results.push({
        type: 'tool_result',
        tool_use_id: id,
        content: JSON.stringify(await fetchCustomer(customerId)),
      })
    }
    messages.push({ role: 'user', content: results })
  }
}

await playhead.withSession({ name: 'support', tags: ['example', 'anthropic'] }, async (session) => {
  const reply = await answer('I was charged twice for my subscription')
  console.log(reply)
  console.log(`Cost: $${session.cost}. Replay: ${session.url}`)
})

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
