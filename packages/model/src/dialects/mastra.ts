import { mapWords } from '../json/word-table.ts'
import type { Dialect, KindResult, SpanReading } from './reading/dialect.ts'
import { ofKind, kindOfWord } from './reading/kind-words.ts'

const kinds = mapWords({
  agent: 'agent_run',
  workflow: 'workflow_run generic processor_run',
  llm: 'model_inference',
  action: 'tool_call mcp_tool_call provider_tool_call',
  embedding: 'rag_embedding',
  retrieval: 'rag_vector_operation',
  event: 'model_chunk',
  evaluator: 'scorer_run',
})

const generation: KindResult = { kind: 'llm', question: 'llm-unless-model-below' }

const types = [
  'agent_run',
  'workflow_run',
  'workflow_step',
  'model_generation',
  'model_step',
  'model_inference',
  'model_chunk',
  'tool_call',
  'mcp_tool_call',
  'generic',
  'processor_run',
]

export const mastra: Dialect = {
  name: 'mastra',
  signs: ['mastra.'],
  scopes: ['@mastra/', 'mastra'],
  numbers: {
    cacheWrite5mTokens: ['gen_ai.usage.cache_creation.5m_input_tokens'],
    cacheWrite1hTokens: ['gen_ai.usage.cache_creation.1h_input_tokens'],
  },
  texts: {
    mastraType: ['mastra.span.type'],
    completionStart: ['mastra.completion_start_time'],
    threadId: ['mastra.metadata.sessionId', 'mastra.metadata.threadId', 'mastra.metadata.resourceId'],
    userId: ['mastra.metadata.userId'],
  },
  values: {
    input: types.map((type) => `mastra.${type}.input`),
    output: types.map((type) => `mastra.${type}.output`),
    tags: ['mastra.tags'],
  },
  groups: { 'mastra.metadata.': 'metadata' },
  kind: readKind,
}

function readKind({ fields }: SpanReading): KindResult | undefined {
  const type = fields.mastraType?.toLowerCase()
  if (type === 'model_generation' || type === 'model_step') return generation
  return type?.startsWith('workflow_') === true ? ofKind('workflow') : kindOfWord(kinds, type)
}
