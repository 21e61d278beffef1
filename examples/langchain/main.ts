import { AIMessage, HumanMessage, SystemMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { callTool, inTurns, startScriptedModel } from '@playhead/scripted-model'
import * as playhead from 'playhead'
import { z } from 'zod'

playhead.init({ serviceName: 'example-langchain' })

// Without an API key, a scripted local model answers.
const model = process.env.OPENAI_API_KEY ? undefined : await startScriptedModel(script())
const chat = new ChatOpenAI({
  model: 'gpt-4o-mini',
  ...(model !== undefined && { apiKey: 'none', configuration: { baseURL: `${model.url}/v1` } }),
})

const customers = new Map([['c_42', { name: 'Ada', plan: 'pro', charges: 1 }]])

const fetchCustomer = playhead.recordTool(
  { name: 'fetch_customer_data', effect: 'read' },
  async ({ customerId }: { customerId: string }) => JSON.stringify(customers.get(customerId) ?? null),
)

const tools = [
  tool(fetchCustomer, {
    name: 'fetch_customer_data',
    description: 'The plan and the charges of a customer',
    schema: z.object({ customerId: z.string() }),
  }),
]

const support = playhead.agent('support', async (question: string) => {
  const withTools = chat.bindTools(tools)
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({ messages: [await withTools.invoke(messages)] }))
    .addNode('tools', new ToolNode(tools))
    .addEdge(START, 'model')
    .addConditionalEdges('model', ({ messages }) => {
      const last = messages.at(-1)
      return last instanceof AIMessage && (last.tool_calls ?? []).length > 0 ? 'tools' : END
    })
    .addEdge('tools', 'model')
    .compile()
  const { messages } = await graph.invoke({
    messages: [
      new SystemMessage('You answer questions about invoices. The customer is c_42.'),
      new HumanMessage(question),
    ],
  })
  return messages.at(-1)?.text ?? ''
})

await playhead.withSession({ name: 'support', tags: ['example', 'langchain'] }, async (session) => {
  console.log(await support('I was charged twice for my subscription'))
  console.log(`Cost: $${session.cost}. Replay: ${session.url}`)
})

await playhead.flush()
await model?.stop()

function script() {
  return inTurns(
    callTool('fetch_customer_data', { customerId: 'c_42' }),
    'You were charged once, Ada. The second line is a hold that goes away by itself.',
  )
}
