import { callTool, inTurns, startScriptedModel } from '@playhead/scripted-model'
import OpenAI from 'openai'
import * as playhead from 'playhead'

playhead.init({ serviceName: 'example-openai' })

// Without an API key, a scripted local model answers.
const model = process.env.OPENAI_API_KEY ? undefined : await startScriptedModel(script())
const client = new OpenAI(model === undefined ? {} : { apiKey: 'none', baseURL: `${model.url}/v1` })

const customers = { c_42: { name: 'Ada', plan: 'pro', charges: 1 } }

const fetchCustomer = playhead.recordTool(
  { name: 'fetch_customer_data', effect: 'read' },
  async (customerId: keyof typeof customers) => customers[customerId],
)

const tools: OpenAI.ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'fetch_customer_data',
      description: 'The plan and the charges of a customer',
      parameters: {
        type: 'object',
        properties: { customerId: { type: 'string' } },
        required: ['customerId'],
      },
    },
  },
]

async function answer(question: string): Promise<string> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: 'You answer questions about invoices. The customer is c_42.' },
    { role: 'user', content: question },
  ]
  for (;;) {
    const stream = client.chat.completions.stream({
      model: 'gpt-4o-mini',
      messages,
      tools,
      stream_options: { include_usage: true },
    })
    const message = await stream.finalMessage()
    messages.push(message)
    if (message.tool_calls === undefined || message.tool_calls.length === 0) return message.content ?? ''
    for (const call of message.tool_calls) {
      if (call.type !== 'function') continue
      const { customerId } = JSON.parse(call.function.arguments) as { customerId: keyof typeof customers }
      messages.push({
        role: 'tool',
        tool_call_id: call.id,
        content: JSON.stringify(await fetchCustomer(customerId)),
      })
    }
  }
}

await playhead.withSession({ name: 'support', tags: ['example', 'openai'] }, async (session) => {
  const reply = await answer('I was charged twice for my subscription')
  console.log(reply)
  console.log(`Cost: $${session.cost}. Replay: ${session.url}`)
})

await playhead.flush()
await model?.stop()

function script() {
  return inTurns(callTool('fetch_customer_data', { customerId: 'c_42' }), {
    text: 'You were charged once, Ada. The second line is a hold that goes away by itself.',
    chunkDelayMs: 5,
  })
}
