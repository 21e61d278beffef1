import type { KindResult, SpanReading } from '../reading/dialect.ts'
import { ask } from '../reading/dialect-set.ts'
import { commonKindWords, ofKind, kindOfWord } from '../reading/kind-words.ts'
import { hasUsageField } from './usage-of-span.ts'

const embeddingModel = /embed/i
/** Google's ADK repeats the results of tools that ran in parallel. */
const MERGED_TOOLS = 'execute_tool (merged'

/** The kind of a step: what its dialects state, otherwise what its attributes look like. */
export function kindOfStep(reading: SpanReading): KindResult {
  if (reading.span.name.startsWith(MERGED_TOOLS)) return ofKind('other')
  for (const { dialect, bit } of reading.dialects.kindOrder) {
    const stated = (reading.signs & bit) === 0 ? undefined : ask(dialect, 'kind', reading)
    if (stated !== undefined) return stated
  }
  return kindByWord(reading) ?? kindByShape(reading)
}

/** A common word for a kind, under a key that ends like a span kind. */
function kindByWord({ fields }: SpanReading): KindResult | undefined {
  return kindOfWord(commonKindWords, fields.statedKind?.toLowerCase())
}

function kindByShape(reading: SpanReading): KindResult {
  const { fields, groups, span } = reading
  if (isVectorSearch(reading)) return ofKind('retrieval')
  if (fields.guardrailName !== undefined || fields.guardrailTriggered !== undefined)
    return ofKind('guardrail')
  if (fields.handoffTo !== undefined || groups.handoffs !== undefined) return ofKind('handoff')
  const model = fields.requestModel ?? fields.responseModel ?? fields.model
  const isCall = model !== undefined || hasUsageField(fields)
  const isTool = fields.toolName !== undefined || fields.toolCallId !== undefined
  if (isTool && !isCall) return ofKind('action')
  const isEmbedding =
    fields.outputTokens === undefined && embeddingModel.test(model ?? fields.bareModel ?? '')
  if (isCall && isEmbedding) return ofKind('embedding')
  // Turns, tasks and runs repeat the model or the tokens of the calls below them.
  if (isCall) return { kind: 'llm', question: 'llm-unless-model-below' }
  const isConversation =
    fields.inputMessages !== undefined ||
    groups.inputMessages !== undefined ||
    groups.promptMessages !== undefined
  if (isConversation && fields.bareModel !== undefined) return ofKind('llm')
  if (groups.documents !== undefined || groups.rerankedDocuments !== undefined) return ofKind('retrieval')
  return kindByName(span.name, fields.agentName)
}

/** Span names of the semantic conventions, for senders that omit `gen_ai.operation.name`. */
function kindByName(name: string, agentName: string | undefined): KindResult {
  if (name.startsWith('execute_tool ')) return ofKind('action')
  if (name.startsWith('invoke_agent ') || (agentName !== undefined && name === agentName))
    return ofKind('agent')
  return name.startsWith('invoke_workflow ') ? ofKind('workflow') : ofKind('other')
}

function isVectorSearch({ fields, groups, span }: SpanReading): boolean {
  if (fields.databaseSystem === undefined) return false
  return (
    groups.vectorSearch !== undefined || span.events.some((event) => event.name.startsWith('db.query.result'))
  )
}
