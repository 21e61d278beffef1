import { ChatOpenAI } from '@langchain/openai'
import { createAgent, createMiddleware, tool, ToolMessage } from 'langchain'
import { z } from 'zod'
import { AGENT, getWeather, GPT, model, SYSTEM } from './weather.mjs'

/** A tool that fails does not end the run. */
const tellTheModel = createMiddleware({
  name: 'TellTheModel',
  wrapToolCall: async (request, handler) => {
    try {
      return await handler(request)
    } catch (error) {
      return new ToolMessage({
        content: `Error: ${error.message}`,
        tool_call_id: request.toolCall.id,
        status: 'error',
      })
    }
  },
})

/** The agent in LangChain, for the programs that instrument it. */
export function langChainAgent(config = {}) {
  const agent = createAgent({
    name: AGENT,
    model: new ChatOpenAI({
      model: GPT,
      maxRetries: 0,
      streamUsage: true,
      configuration: { baseURL: `${model}/v1` },
    }),
    tools: [
      tool(getWeather, {
        name: 'get_weather',
        description: 'Tells the weather.',
        schema: z.object({ city: z.string(), days: z.number() }),
      }),
    ],
    systemPrompt: SYSTEM,
    middleware: [tellTheModel],
  })
  return async (question, stream) => {
    const given = { messages: [{ role: 'user', content: question }] }
    if (!stream) return (await agent.invoke(given, config)).messages.at(-1).content
    let text = ''
    for await (const [piece] of await agent.stream(given, { ...config, streamMode: 'messages' }))
      text += piece.content
    return text
  }
}
