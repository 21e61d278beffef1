import Anthropic from '@anthropic-ai/sdk'
import * as playhead from 'playhead'

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

/** Answers one question in a session of its own. */
export function support(question: string): Promise<string> {
  const options = { name: 'support', input: question, tags: ['example', 'anthropic'] }
  return playhead.withSession(options, () => answer(question))
}

async function answer(question: string): Promise<string> {
  const client = new Anthropic({ apiKey: process.env.ANTHROPIC_API_KEY ?? 'none' })
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
