import { emptyAttributes, type Attributes } from '../../otlp/span.ts'
import type { GroupName } from '../reading/dialect.ts'
import type { FieldName } from '../reading/fields.ts'
import { allDialects } from '../all-dialects.ts'

/** Fields with content of people, models and tools. */
const contentFields: ReadonlySet<FieldName> = new Set<FieldName>([
  'input',
  'output',
  'systemInstructions',
  'inputMessages',
  'outputMessages',
  'promptMessages',
  'prompt',
  'responseText',
  'responseReasoning',
  'responseToolCalls',
  'responseObject',
  'responseInput',
  'allMessages',
  'llmRequest',
  'llmResponse',
  'unindexedPrompt',
  'unindexedCompletion',
  'toolArguments',
  'toolParameters',
  'toolResult',
  'calledFunctionArguments',
  'documents',
  'retrievalQuery',
  'spanData',
  'embeddingInput',
  'streamChunks',
  'errorMessage',
  'levelMessage',
])
const contentGroups: ReadonlySet<GroupName> = new Set<GroupName>([
  'inputMessages',
  'outputMessages',
  'promptMessages',
  'completionMessages',
  'promptTexts',
  'choiceTexts',
  'documents',
  'rerankedDocuments',
  'embeddings',
])
/** Longer texts under unknown keys count as content. */
const MAX_LABEL_LENGTH = 120

/** Removes content from attributes; names, models, numbers and times stay. */
export function withoutContent(attributes: Attributes): Attributes {
  const kept = emptyAttributes()
  for (const key of Object.keys(attributes)) {
    const value = attributes[key]!
    if (!isContent(key, value)) kept[key] = value
  }
  return kept
}

function isContent(key: string, value: unknown): boolean {
  const { field, group } = allDialects.keys.meaningOf(key)
  if (field !== undefined) return contentFields.has(field)
  if (group !== undefined) return contentGroups.has(group)
  return typeof value === 'string' ? value.length > MAX_LABEL_LENGTH : typeof value === 'object'
}

/** True when the scope or the keys show that a span comes from an instrumentation of agents or models. */
export function isAgentSpan(scopeName: string, attributes: Readonly<Record<string, unknown>>): boolean {
  if (allDialects.keys.signsOfScope(scopeName) !== 0) return true
  for (const key in attributes) if (allDialects.keys.meaningOf(key).signs !== 0) return true
  return false
}
