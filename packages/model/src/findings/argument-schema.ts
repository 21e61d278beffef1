import { isRecord } from '../json/attribute-value.ts'
import { parseJson } from '../json/json-text.ts'

const MAX_DEPTH = 6

/** How arguments break a JSON schema: required, type and enum. Undefined if they fit or nothing is known. */
export function breakOfSchema(given: unknown, schema: unknown): string | undefined {
  const rules = parseJson(schema)
  return isRecord(rules) && isRecord(given) ? check(given, rules, '', 0) : undefined
}

function check(
  value: unknown,
  schema: Record<string, unknown>,
  path: string,
  depth: number,
): string | undefined {
  if (depth > MAX_DEPTH) return undefined
  const wrongType = checkType(value, schema.type, path)
  if (wrongType !== undefined) return wrongType
  if (Array.isArray(schema.enum) && schema.enum.length > 0 && !schema.enum.includes(value))
    return `${path} = ${JSON.stringify(value)}, which is none of ${JSON.stringify(schema.enum)}`
  if (Array.isArray(value) && isRecord(schema.items)) {
    const { items } = schema
    return firstOf(value, (item, index) =>
      check(item, items as Record<string, unknown>, `${path}[${index}]`, depth + 1),
    )
  }
  if (!isRecord(value)) return undefined
  const missing = Array.isArray(schema.required)
    ? schema.required.find((name) => typeof name === 'string' && !Object.hasOwn(value, name))
    : undefined
  if (missing !== undefined) return `no ${path === '' ? '' : `${path}.`}${String(missing)}`
  const { properties } = schema
  if (!isRecord(properties)) return undefined
  return firstOf(Object.entries(value), ([name, item]) => {
    const rule = properties[name]
    return isRecord(rule) ? check(item, rule, path === '' ? name : `${path}.${name}`, depth + 1) : undefined
  })
}

function firstOf<Item>(
  items: readonly Item[],
  find: (item: Item, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = find(item, index)
    if (found !== undefined) return found
  }
  return undefined
}

function checkType(value: unknown, type: unknown, path: string): string | undefined {
  const allowed = (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string')
  if (path === '' || allowed.length === 0 || allowed.some((name) => isOfType(value, name))) return undefined
  return `${path} = ${JSON.stringify(value)}, which is no ${allowed.join(' or ')}`
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isRecord(value)
    case 'integer':
      return Number.isInteger(value)
    case 'number':
      return typeof value === 'number'
    case 'string':
      return typeof value === 'string'
    case 'boolean':
      return typeof value === 'boolean'
    default:
      return true
  }
}
