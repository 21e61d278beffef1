import type { ModelRequest } from './model-request.ts'
import type { Reply } from './reply.ts'
import { sampleOf } from './sample-of.ts'

/**
 * What the model answers when the script has nothing to say: it calls the first tool once, tells what the tools gave
 * back, follows a schema with a sample of it, and otherwise repeats the question.
 */
export function defaultReply(request: ModelRequest): Reply {
  const { schema, tools, toolResults, turn, userText } = request
  const tool = tools.find(({ name }) => name !== '')
  if (tool !== undefined && turn === 0) {
    return { toolCalls: [{ name: tool.name, arguments: sampleOf(tool.parameters, userText) }] }
  }
  if (schema !== undefined) return JSON.stringify(sampleOf(schema, userText))
  if (toolResults.length === 0) return `You said: ${userText}`
  return `The tool says: ${toolResults.map(({ result }) => JSON.stringify(result)).join(', ')}`
}
