import { mapWords } from '../json/word-table.ts'
import { toText } from '../json/attribute-value.ts'
import type { Dialect } from './reading/dialect.ts'
import { parseJson } from '../json/json-text.ts'
import { kindOfWord } from './reading/kind-words.ts'

const kinds = mapWords({
  llm: 'LLM CHAT_MODEL',
  agent: 'AGENT',
  action: 'TOOL',
  retrieval: 'RETRIEVER RERANKER',
  embedding: 'EMBEDDING',
  guardrail: 'GUARDRAIL',
  evaluator: 'EVALUATOR',
  workflow: 'WORKFLOW CHAIN TASK PARSER MEMORY',
})

/** MLflow writes every value as JSON, so texts are quoted. */
export const mlflow: Dialect = {
  name: 'mlflow',
  signs: ['mlflow.'],
  scopes: ['mlflow'],
  texts: {
    mlflowType: ['mlflow.spanType'],
    requestModel: ['mlflow.llm.model', 'mlflow.chat.model'],
    provider: ['mlflow.llm.provider'],
    threadId: ['mlflow.trace.session'],
    userId: ['mlflow.trace.user'],
    toolName: ['mlflow.tool.name'],
  },
  values: {
    input: ['mlflow.spanInputs'],
    output: ['mlflow.spanOutputs'],
    usageObject: ['mlflow.chat.tokenUsage'],
    costObject: ['mlflow.llm.cost'],
    toolDefinitions: ['mlflow.chat.tools'],
  },
  groups: { 'mlflow.traceTag.': 'sessionMetadata' },
  kind: ({ fields }) => kindOfWord(kinds, toText(parseJson(fields.mlflowType))?.toUpperCase()),
}
