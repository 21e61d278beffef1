import type { Attributes } from '@opentelemetry/api'
import type { JsonObject } from '../json-value.ts'
import type { ToolDefinition } from './model-api.ts'

/** Attributes by the field of the request that they come from. */
export function attributesFrom(source: JsonObject, names: Readonly<Record<string, string>>): Attributes {
  const attributes: Attributes = {}
  for (const field in names) {
    const value = toAttribute(source[field])
    if (value !== undefined) attributes[names[field]!] = value
  }
  return attributes
}

function toAttribute(value: unknown): string | number | boolean | string[] | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'object' || value === null) return undefined
  const isTexts = Array.isArray(value) && value.every((item) => typeof item === 'string')
  return isTexts ? value : JSON.stringify(value)
}

/** What the answer has to look like: `json`, `text` or another word of the provider. */
export function outputType(word: unknown): Attributes {
  if (typeof word !== 'string') return {}
  return { 'gen_ai.output.type': word.includes('json') ? 'json' : word }
}

export function defineTool(raw: JsonObject, type = 'function'): ToolDefinition {
  const definition: ToolDefinition = { type, name: typeof raw.name === 'string' ? raw.name : type }
  if (typeof raw.description === 'string') definition.description = raw.description
  const parameters = raw.parameters ?? raw.input_schema ?? raw.parametersJsonSchema
  if (parameters !== undefined && parameters !== null) definition.parameters = parameters
  return definition
}
