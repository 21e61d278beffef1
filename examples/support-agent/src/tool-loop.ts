import type OpenAI from 'openai'
import { MODEL, openai, type Message } from './ask-model.ts'

export type Tool = {
  name: string
  description: string
  /** Argument names; all arguments are strings. */
  parameters: string[]
  run: (...values: string[]) => unknown
}

/** Calls the model until it answers without calling tools. Tools called in the same turn run concurrently. */
export async function runToolLoop(messages: Message[], tools: Tool[], maxTurns = 6): Promise<string> {
  const conversation = [...messages]
  for (let turn = 1; turn <= maxTurns; turn += 1) {
    const { choices } = await openai().chat.completions.create({
      model: MODEL,
      messages: conversation,
      tools: tools.map(describeTool),
    })
    const message = choices[0]!.message
    const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function')
    if (calls.length === 0) return message.content ?? ''
    conversation.push(message, ...(await Promise.all(calls.map((call) => runCall(call, tools)))))
  }
  throw new Error(`no answer after ${maxTurns} turns`)
}

async function runCall(call: OpenAI.ChatCompletionMessageFunctionToolCall, tools: Tool[]): Promise<Message> {
  const { name, arguments: text } = call.function
  const tool = tools.find((candidate) => candidate.name === name)
  if (tool === undefined) throw new Error(`the model asked for ${name}, which is not there`)
  const values = JSON.parse(text) as Record<string, string>
  const result = await tool.run(...tool.parameters.map((parameter) => values[parameter]!))
  return { role: 'tool', tool_call_id: call.id, content: JSON.stringify(result) }
}

function describeTool({ name, description, parameters }: Tool): OpenAI.ChatCompletionTool {
  const properties = Object.fromEntries(parameters.map((parameter) => [parameter, { type: 'string' }]))
  return {
    type: 'function',
    function: { name, description, parameters: { type: 'object', properties, required: parameters } },
  }
}
