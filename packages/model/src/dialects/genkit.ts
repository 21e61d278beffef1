import { mapWords } from '../json/word-table.ts'
import type { Dialect, KindResult, SpanReading } from './reading/dialect.ts'
import { kindOfWord } from './reading/kind-words.ts'

const subtypes = mapWords({
  llm: 'model background-model',
  action: 'tool tool.v2',
  workflow: 'flow prompt executable-prompt util',
  agent: 'agent',
  retrieval: 'retriever reranker',
  embedding: 'embedder',
  evaluator: 'evaluator',
  other: 'indexer',
})

const types = mapWords({
  workflow: 'flow flowStep util helper dotprompt promptTemplate',
})

/** Firebase Genkit. Input and output of a model step are the request and the response, including usage. */
export const genkit: Dialect = {
  name: 'genkit',
  signs: ['genkit:', 'genkit/'],
  scopes: ['genkit'],
  texts: {
    genkitSubtype: ['genkit:metadata:subtype'],
    genkitType: ['genkit:type'],
    entityName: ['genkit:name'],
    state: ['genkit:state'],
    threadId: ['genkit:sessionId'],
    requestModel: ['genkit:model'],
  },
  values: { input: ['genkit:input'], output: ['genkit:output'] },
  kind: readKind,
}

function readKind({ fields }: SpanReading): KindResult | undefined {
  return kindOfWord(subtypes, fields.genkitSubtype) ?? kindOfWord(types, fields.genkitType)
}
