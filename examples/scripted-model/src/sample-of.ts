import { asList, asObject, isObject } from './json.ts'

const MAX_DEPTH = 8

/** A value that follows a JSON schema; texts are the given one. */
export function sampleOf(schema: unknown, text: string, depth = 0): unknown {
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
