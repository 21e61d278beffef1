import type { StepKind } from '../../session/step.ts'
import type { KindResult } from './dialect.ts'

const results = new Map<StepKind, KindResult>()

/** The result without an open question; always the same object. */
export function ofKind(kind: StepKind): KindResult {
  let result = results.get(kind)
  if (result === undefined) {
    result = { kind }
    results.set(kind, result)
  }
  return result
}

/** Looks up a sender's word for a kind. */
export function kindOfWord(
  words: ReadonlyMap<string, StepKind>,
  word: string | undefined,
): KindResult | undefined {
  const kind = word === undefined ? undefined : words.get(word)
  return kind === undefined ? undefined : ofKind(kind)
}

/** Words with the same meaning in all known dialects, in lower case. */
export const commonKindWords: ReadonlyMap<string, StepKind> = new Map([
  ['llm', 'llm'],
  ['chat', 'llm'],
  ['chat_model', 'llm'],
  ['completion', 'llm'],
  ['generation', 'llm'],
  ['model', 'llm'],
  ['embedding', 'embedding'],
  ['embeddings', 'embedding'],
  ['embedder', 'embedding'],
  ['tool', 'action'],
  ['function', 'action'],
  ['action', 'action'],
  ['tool_call', 'action'],
  ['agent', 'agent'],
  ['retriever', 'retrieval'],
  ['retrieval', 'retrieval'],
  ['reranker', 'retrieval'],
  ['rerank', 'retrieval'],
  ['guardrail', 'guardrail'],
  ['handoff', 'handoff'],
  ['evaluator', 'evaluator'],
  ['evaluation', 'evaluator'],
  ['workflow', 'workflow'],
  ['chain', 'workflow'],
  ['task', 'workflow'],
  ['flow', 'workflow'],
  ['graph', 'workflow'],
  ['pipeline', 'workflow'],
  ['session', 'workflow'],
  ['event', 'event'],
] satisfies [string, StepKind][])
