import OpenAI from 'openai'
import * as playhead from 'playhead'

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

/** Answers one question in a session of its own. */
export function support(question: string): Promise<string> {
  const options = { name: 'support', input: question, tags: ['example', 'openai'] }
  return playhead.withSession(options, () => answer(question))
}

async function answer(question: string): Promise<string> {
  const client = new OpenAI({ apiKey: process.env.OPENAI_API_KEY ?? 'none' })
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
