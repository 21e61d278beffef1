import { AIMessage, HumanMessage, SystemMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import * as playhead from 'playhead'
import { z } from 'zod'

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

/** Answers one question in a session of its own. */
export function support(question: string): Promise<string> {
  const options = { name: 'support', input: question, tags: ['example', 'langchain'] }
  return playhead.withSession(options, () => answer(question))
}

const answer = playhead.agent('support', async (question: string) => {
  const chat = new ChatOpenAI({ model: 'gpt-4o-mini', apiKey: process.env.OPENAI_API_KEY ?? 'none' })
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
