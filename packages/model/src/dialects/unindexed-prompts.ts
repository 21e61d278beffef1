import { messagesOfRequest, messagesOfResponse } from '../providers/payload.ts'
import type { Dialect } from './reading/dialect.ts'
import { readJson } from './reading/payload.ts'

/** Prompt and completion as one JSON attribute each: LangSmith, OpenRouter, the oldest semantic conventions. */
export const unindexedPrompts: Dialect = {
  name: 'unindexed-prompts',
  values: { unindexedPrompt: ['gen_ai.prompt'], unindexedCompletion: ['gen_ai.completion'] },
  inputMessages: (reading, kind) =>
    kind !== 'llm' || reading.fields.unindexedPrompt === undefined
      ? undefined
      : messagesOfRequest(readJson(reading, reading.fields.unindexedPrompt)),
  outputMessages: (reading, kind) =>
    kind !== 'llm' || reading.fields.unindexedCompletion === undefined
      ? undefined
      : messagesOfResponse(readJson(reading, reading.fields.unindexedCompletion)),
}
