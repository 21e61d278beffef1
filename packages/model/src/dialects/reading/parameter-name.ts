import { mapWords, wordsIn } from '../../json/word-table.ts'
import { isUnsafeKey } from '../../json/attribute-value.ts'
import { toSnakeCase } from '../../providers/usage.ts'

/** Aliases of parameters. Other names are only converted to snake case. */
const names = mapWords({
  max_tokens: 'max_output_tokens max_completion_tokens max_new_tokens',
  stop_sequences: 'stop chat.stop_sequences',
  n: 'choice.count candidate_count',
  stream: 'is_stream streaming is_streaming',
  encoding_format: 'encoding_formats',
  response_format: 'structured_output_schema',
})

/** Fields of a request or response that are not parameters. */
const notParameters = new Set(
  wordsIn(`
    id object created created_at completed_at status error incomplete_details model messages input
    contents prompt prompts instructions system tools functions output output_text usage metadata user
    type function_tools builtin_tools output_tools
  `),
)

/** The parameters among the many keys below `llm.`. */
const looseNames = new Set(
  wordsIn(`
    temperature top_p top_k frequency_penalty presence_penalty chat.stop_sequences is_streaming seed
    max_tokens
  `),
)

/** The canonical name of a parameter; undefined for other fields. */
export function parameterName(key: string): string | undefined {
  const snake = toSnakeCase(key)
  const name = names.get(snake) ?? snake
  return isUnsafeKey(name) || notParameters.has(name) || name.startsWith('headers') ? undefined : name
}

/** As `parameterName`, for a key below `llm.`. */
export function looseParameterName(key: string): string | undefined {
  return looseNames.has(key) ? parameterName(key) : undefined
}
