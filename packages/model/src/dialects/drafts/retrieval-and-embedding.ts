import type { RetrievedDocument } from '../../session/step.ts'
import type { StepContent } from '../../session/step-draft.ts'
import {
  firstText,
  isRecord,
  toNumber,
  toText,
  type JsonObject,
  isMeaningful,
  isUnsafeKey,
} from '../../json/attribute-value.ts'
import type { SpanReading } from '../reading/dialect.ts'
import { unflattenList } from '../reading/flattened-keys.ts'
import { parseJson } from '../../json/json-text.ts'
import { inputOf, outputOf, readJson } from '../reading/payload.ts'

/** The query and the documents of a retrieval. */
export function retrievalOfSpan(reading: SpanReading): NonNullable<StepContent['retrieval']> {
  const retrieval: NonNullable<StepContent['retrieval']> = {}
  const query = reading.fields.retrievalQuery ?? queryOf(inputOf(reading))
  if (query !== undefined) retrieval.query = query
  const documents = documentsOf(reading)
  if (documents.length > 0) retrieval.documents = documents
  return retrieval
}

function queryOf(input: unknown): string | undefined {
  if (!isRecord(input)) return toText(input)
  const { query } = input
  return isRecord(query)
    ? firstText(query.text, query.content)
    : firstText(query, input.input, input.question, input.text)
}

function documentsOf(reading: SpanReading): RetrievedDocument[] {
  const { fields, groups, span } = reading
  const flattened = [groups.documents, groups.rerankedDocuments]
  for (const group of flattened) {
    const documents = unflattenList(group).flatMap(toDocument)
    if (documents.length > 0) return documents
  }
  const listed = toDocuments(readJson(reading, fields.documents))
  if (listed.length > 0) return listed
  const events = span.events.filter((event) => event.name.startsWith('db.query.result'))
  if (events.length > 0) return events.flatMap((event) => toDocument(withoutPrefix(event.attributes)))
  const output = outputOf(reading)
  return toDocuments(isRecord(output) ? (output.documents ?? output.results ?? output.matches) : output)
}

function toDocuments(list: unknown): RetrievedDocument[] {
  return Array.isArray(list) ? list.flatMap(toDocument) : []
}

function toDocument(item: unknown): RetrievedDocument[] {
  if (typeof item === 'string') return [{ content: item }]
  if (!isRecord(item)) return []
  const raw = isRecord(item.document) ? item.document : isRecord(item.kwargs) ? item.kwargs : item
  const found: RetrievedDocument = {}
  const id = toText(raw.id)
  if (id !== undefined) found.id = id
  const score = toNumber(
    raw.score ?? item.score ?? raw.relevance_score ?? raw.relevanceScore ?? raw.similarity ?? raw.distance,
  )
  if (score !== undefined) found.score = score
  const content = contentOf(raw)
  if (content !== undefined) found.content = content
  const metadata = parseJson(raw.metadata)
  if (metadata !== undefined && metadata !== null) found.metadata = metadata
  return Object.keys(found).length === 0 ? [] : [found]
}

function contentOf(raw: JsonObject): string | undefined {
  const direct = firstText(raw.content, raw.page_content, raw.pageContent, raw.text, raw.document, raw.body)
  if (direct !== undefined || !Array.isArray(raw.content)) return direct
  return toText(raw.content.map((part) => (isRecord(part) ? (toText(part.text) ?? '') : '')).join('\n'))
}

/** `db.query.result.score` as well as `score`. */
function withoutPrefix(attributes: JsonObject): JsonObject {
  const plain = Object.create(null) as JsonObject
  for (const key of Object.keys(attributes)) plain[key.slice(key.lastIndexOf('.') + 1)] = attributes[key]
  return plain
}

const MAX_DEPTH = 8

/** The embedded texts, if the sender reports them separately from the vectors. */
export function embeddedTexts({ fields, groups }: SpanReading): unknown {
  const texts = unflattenList(groups.embeddings).flatMap((item) => {
    const inner = isRecord(item) && isRecord(item.embedding) ? item.embedding : item
    const text = isRecord(inner) ? toText(inner.text) : undefined
    return text === undefined ? [] : [text]
  })
  if (texts.length > 0) return texts.length === 1 ? texts[0] : texts
  const given = fields.embeddingInput
  const values = Array.isArray(given) ? given.map(parseJson) : parseJson(given)
  return Array.isArray(values) && values.length === 1 ? values[0] : values
}

/** Removes vectors, which are large and unreadable. Undefined when nothing else is left. */
export function withoutVectors(value: unknown, depth = 0): unknown {
  if (Array.isArray(value)) {
    if (value.length > 1 && typeof value[0] === 'number') return undefined
    const kept = value.map((item) => withoutVectors(item, depth + 1)).filter((item) => item !== undefined)
    return kept.length === 0 ? undefined : kept
  }
  if (!isRecord(value)) return value
  if (depth === MAX_DEPTH) return undefined
  const copy = Object.create(null) as JsonObject
  for (const key of Object.keys(value)) {
    const kept = isUnsafeKey(key) ? undefined : withoutVectors(value[key], depth + 1)
    if (kept !== undefined) copy[key] = kept
  }
  return isMeaningful(copy) ? copy : undefined
}
