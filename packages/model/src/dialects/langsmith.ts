import { mapWords } from '../json/word-table.ts'
import type { Dialect } from './reading/dialect.ts'
import { kindOfWord } from './reading/kind-words.ts'

const kinds = mapWords({
  llm: 'llm',
  action: 'tool',
  retrieval: 'retriever',
  embedding: 'embedding',
  workflow: 'chain parser prompt',
})

/** LangSmith. Its `trace.session_name` and `trace.session_id` name a project, not a session. */
export const langSmith: Dialect = {
  name: 'langsmith',
  signs: ['langsmith.'],
  scopes: ['langsmith'],
  texts: {
    langSmithKind: ['langsmith.span.kind'],
    threadId: [
      'langsmith.metadata.session_id',
      'langsmith.metadata.thread_id',
      'langsmith.metadata.conversation_id',
    ],
    userId: ['langsmith.metadata.user_id'],
  },
  values: {
    usageObject: ['langsmith.usage_metadata', 'langsmith.metadata.usage_metadata'],
    tags: ['langsmith.span.tags'],
  },
  groups: { 'langsmith.metadata.': 'metadata' },
  // Its JavaScript SDK sets the status to OK first, which OpenTelemetry treats as final.
  failsByException: true,
  kind: ({ fields }) => kindOfWord(kinds, fields.langSmithKind?.toLowerCase()),
}
