import type { ModelRequest } from './model-request.ts'
import type { Reply } from './reply.ts'
import { asList, asObject, isObject } from './json.ts'

/**
 * The reply when no rule has one: calls the first tool once, then reports its result; answers a schema with a sample; and
 * otherwise repeats the question.
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

const MAX_DEPTH = 8

/** A value that matches a JSON schema, with `text` for every string. */
function sampleOf(schema: unknown, text: string, depth = 0): unknown {
  if (!isObject(schema) || depth > MAX_DEPTH) return {}
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined) return schema.default
  const options = asList(schema.enum)
  if (options.length > 0) return options[0]
  const variants = asList(schema.anyOf ?? schema.oneOf)
  if (variants.length > 0) return sampleOf(variants[0], text, depth + 1)
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  switch (typeof type === 'string' ? type.toLowerCase() : 'object') {
    case 'string':
      return text
    case 'integer':
    case 'number':
      return typeof schema.minimum === 'number' ? schema.minimum : 1
    case 'boolean':
      return true
    case 'null':
      return null
    case 'array':
      return [sampleOf(schema.items, text, depth + 1)]
    default:
      return Object.fromEntries(
        Object.entries(asObject(schema.properties)).map(([name, property]) => [
          name,
          sampleOf(property, text, depth + 1),
        ]),
      )
  }
}
