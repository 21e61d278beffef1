import type { StepKind } from '../session/step.ts'
import { toText } from '../json/attribute-value.ts'
import type { Dialect } from './reading/dialect.ts'
import { parseJson } from '../json/json-text.ts'
import { kindOfWord } from './reading/kind-words.ts'

const kinds: ReadonlyMap<string, StepKind> = new Map([
  ['LLM', 'llm'],
  ['CHAT_MODEL', 'llm'],
  ['AGENT', 'agent'],
  ['TOOL', 'action'],
  ['RETRIEVER', 'retrieval'],
  ['RERANKER', 'retrieval'],
  ['EMBEDDING', 'embedding'],
  ['GUARDRAIL', 'guardrail'],
  ['EVALUATOR', 'evaluator'],
  ['WORKFLOW', 'workflow'],
  ['CHAIN', 'workflow'],
  ['TASK', 'workflow'],
  ['PARSER', 'workflow'],
  ['MEMORY', 'workflow'],
])

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
