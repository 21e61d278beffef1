import type { StepKind } from '../session/step.ts'
import type { Dialect, KindResult, SpanReading } from './reading/dialect.ts'
import { kindOfWord } from './reading/kind-words.ts'

const subtypes: ReadonlyMap<string, StepKind> = new Map([
  ['model', 'llm'],
  ['background-model', 'llm'],
  ['tool', 'action'],
  ['tool.v2', 'action'],
  ['flow', 'workflow'],
  ['prompt', 'workflow'],
  ['executable-prompt', 'workflow'],
  ['util', 'workflow'],
  ['agent', 'agent'],
  ['retriever', 'retrieval'],
  ['reranker', 'retrieval'],
  ['embedder', 'embedding'],
  ['evaluator', 'evaluator'],
  ['indexer', 'other'],
])

const types: ReadonlyMap<string, StepKind> = new Map([
  ['flow', 'workflow'],
  ['flowStep', 'workflow'],
  ['util', 'workflow'],
  ['helper', 'workflow'],
  ['dotprompt', 'workflow'],
  ['promptTemplate', 'workflow'],
])

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
