import { mapWords } from '../../json/word-table.ts'
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
export const commonKindWords = mapWords({
  llm: 'llm chat chat_model completion generation model',
  embedding: 'embedding embeddings embedder',
  action: 'tool function action tool_call',
  agent: 'agent',
  retrieval: 'retriever retrieval reranker rerank',
  guardrail: 'guardrail',
  handoff: 'handoff',
  evaluator: 'evaluator evaluation',
  workflow: 'workflow chain turn task flow graph pipeline session',
  event: 'event',
})
