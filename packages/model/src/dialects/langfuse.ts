import { mapWords } from '../json/word-table.ts'
import type { Dialect, KindResult, SpanReading } from './reading/dialect.ts'
import { ofKind, kindOfWord } from './reading/kind-words.ts'

const kinds = mapWords({
  llm: 'generation',
  embedding: 'embedding',
  agent: 'agent',
  action: 'tool',
  workflow: 'chain',
  retrieval: 'retriever',
  guardrail: 'guardrail',
  evaluator: 'evaluator',
  event: 'event',
})

const plainSpan: KindResult = { kind: 'other', question: 'workflow-if-ai-below' }

export const langfuse: Dialect = {
  name: 'langfuse',
  signs: ['langfuse.observation.'],
  scopes: ['langfuse-sdk', 'langfuse'],
  texts: {
    langfuseType: ['langfuse.observation.type'],
    model: ['langfuse.observation.model.name', 'langfuse.observation.model'],
    level: ['langfuse.observation.level'],
    levelMessage: ['langfuse.observation.status_message'],
    completionStart: ['langfuse.observation.completion_start_time'],
    threadId: ['langfuse.session.id', 'langfuse.trace.metadata.langfuse_session_id'],
    userId: ['langfuse.user.id', 'langfuse.trace.metadata.langfuse_user_id'],
    sessionName: ['langfuse.trace.name'],
    environment: ['langfuse.environment'],
    serviceVersion: ['langfuse.release'],
  },
  values: {
    input: ['langfuse.observation.input'],
    output: ['langfuse.observation.output'],
    invocationParameters: ['langfuse.observation.model.parameters'],
    usageBuckets: ['langfuse.observation.usage_details'],
    costObject: ['langfuse.observation.cost_details'],
    tags: ['langfuse.trace.tags', 'langfuse.trace.metadata.langfuse_tags'],
    metadata: ['langfuse.trace.metadata', 'langfuse.metadata'],
    isSessionRoot: ['langfuse.internal.as_root'],
  },
  groups: {
    'langfuse.trace.metadata.': 'sessionMetadata',
    'langfuse.observation.metadata.': 'metadata',
    'langfuse.score.': 'namedScores',
  },
  kind: readKind,
}

/** The Python SDK up to 3.3.0 calls a generation `span`; it is recognised by its keys. */
function readKind({ fields }: SpanReading): KindResult | undefined {
  if (fields.langfuseType?.toLowerCase() !== 'span')
    return kindOfWord(kinds, fields.langfuseType?.toLowerCase())
  if (fields.operation !== undefined) return undefined
  const isCall = fields.model !== undefined || fields.usageBuckets !== undefined
  return isCall ? ofKind('llm') : plainSpan
}
