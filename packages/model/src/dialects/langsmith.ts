import type { StepKind } from '../session/step.ts'
import type { Dialect } from './reading/dialect.ts'
import { kindOfWord } from './reading/kind-words.ts'
import { messagesOfRequest, messagesOfResponse } from '../providers/payload.ts'
import { readJson } from './reading/read-json.ts'

const kinds: ReadonlyMap<string, StepKind> = new Map([
  ['llm', 'llm'],
  ['tool', 'action'],
  ['retriever', 'retrieval'],
  ['embedding', 'embedding'],
  ['chain', 'workflow'],
  ['parser', 'workflow'],
  ['prompt', 'workflow'],
])

/** LangSmith. Its `trace.session_name` and `trace.session_id` are a project, no session. */
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
    usageObject: ['langsmith.usage_metadata'],
    tags: ['langsmith.span.tags'],
  },
  groups: { 'langsmith.metadata.': 'metadata' },
  kind: ({ fields }) => kindOfWord(kinds, fields.langSmithKind?.toLowerCase()),
}

/** Prompt and answer as one JSON each, without indices: LangSmith, OpenRouter, the oldest semantic conventions. */
export const unindexedPrompts: Dialect = {
  name: 'unindexed-prompts',
  values: { unindexedPrompt: ['gen_ai.prompt'], unindexedCompletion: ['gen_ai.completion'] },
  inputMessages: (reading) =>
    reading.fields.unindexedPrompt === undefined
      ? undefined
      : messagesOfRequest(readJson(reading, reading.fields.unindexedPrompt)),
  outputMessages: (reading) =>
    reading.fields.unindexedCompletion === undefined
      ? undefined
      : messagesOfResponse(readJson(reading, reading.fields.unindexedCompletion)),
}
