import { kindOrder } from '../all-dialects.ts'
import type { KindAnswer, Reading } from '../reading/dialect.ts'
import { commonKindWords, itIs, kindOfWord } from '../reading/kind-words.ts'
import { hasUsageField } from './usage-of-span.ts'

const embeddingModel = /embed/i

/** What kind of step a span is: first what its dialects say in words, then what its attributes look like. */
export function kindOfStep(reading: Reading): KindAnswer {
  for (const { dialect, bit } of kindOrder) {
    if ((reading.signs & bit) === 0 || dialect.kind === undefined) continue
    const answer = dialect.kind(reading)
    if (answer !== undefined) return answer
  }
  return kindByWord(reading) ?? kindByShape(reading)
}

/** A word that means the same everywhere, in a key that ends like a kind. */
function kindByWord({ fields }: Reading): KindAnswer | undefined {
  return kindOfWord(commonKindWords, fields.statedKind?.toLowerCase())
}

function kindByShape(reading: Reading): KindAnswer {
  const { fields, groups, span } = reading
  if (isVectorSearch(reading)) return itIs('retrieval')
  if (fields.guardrailName !== undefined || fields.guardrailTriggered !== undefined) return itIs('guardrail')
  if (fields.handoffTo !== undefined || groups.handoffs !== undefined) return itIs('handoff')
  const model = fields.requestModel ?? fields.responseModel ?? fields.model
  const isCall = model !== undefined || hasUsageField(fields)
  const isTool = fields.toolName !== undefined || fields.toolCallId !== undefined
  if (isTool && !isCall) return itIs('action')
  const isEmbedding =
    fields.outputTokens === undefined && embeddingModel.test(model ?? fields.bareModel ?? '')
  if (isCall) return itIs(isEmbedding ? 'embedding' : 'llm')
  const isConversation =
    fields.inputMessages !== undefined ||
    groups.inputMessages !== undefined ||
    groups.promptMessages !== undefined
  if (isConversation && fields.bareModel !== undefined) return itIs('llm')
  if (groups.documents !== undefined || groups.rerankedDocuments !== undefined) return itIs('retrieval')
  return kindByName(span.name, fields.agentName)
}

/** Names that the semantic conventions reserve, for senders that leave `gen_ai.operation.name` out. */
function kindByName(name: string, agentName: string | undefined): KindAnswer {
  if (name.startsWith('execute_tool ')) return itIs('action')
  if (name.startsWith('invoke_agent ') || (agentName !== undefined && name === agentName))
    return itIs('agent')
  return name.startsWith('invoke_workflow ') ? itIs('workflow') : itIs('other')
}

function isVectorSearch({ fields, groups, span }: Reading): boolean {
  if (fields.databaseSystem === undefined) return false
  return (
    groups.vectorSearch !== undefined || span.events.some((event) => event.name.startsWith('db.query.result'))
  )
}
