import { mapWords } from '../json/word-table.ts'
import type { Dialect } from './reading/dialect.ts'
import { kindOfWord } from './reading/kind-words.ts'

const kinds = mapWords({
  llm: 'LLM CACHED',
  action: 'TOOL',
  workflow: 'EXECUTOR PIPELINE EVALUATION',
  evaluator: 'EVALUATOR HUMAN_EVALUATOR',
})

export const laminar: Dialect = {
  name: 'laminar',
  signs: ['lmnr.'],
  scopes: ['lmnr'],
  numbers: { inputCost: ['gen_ai.usage.input_cost'], outputCost: ['gen_ai.usage.output_cost'] },
  texts: {
    laminarType: ['lmnr.span.type'],
    threadId: ['lmnr.association.properties.session_id'],
    userId: ['lmnr.association.properties.user_id'],
  },
  values: {
    input: ['lmnr.span.input'],
    output: ['lmnr.span.output'],
    tags: ['lmnr.association.properties.tags'],
  },
  groups: { 'lmnr.association.properties.metadata.': 'sessionMetadata' },
  kind: ({ fields }) => kindOfWord(kinds, fields.laminarType?.toUpperCase()),
}
