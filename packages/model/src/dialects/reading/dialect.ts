import type { Span } from '../../otlp/span.ts'
import type { Message } from '../../session/message.ts'
import type { StepKind } from '../../session/step.ts'
import type { DialectFailure, TreeQuestion } from '../../session/step-draft.ts'
import type { DialectSet } from './dialect-set.ts'
import type { Fields, NumberField, TextField, ValueField } from './fields.ts'
import type { FlatEntry } from './flattened-keys.ts'

/** Attributes that form one list or object: `llm.input_messages.0.message.role`, `mastra.metadata.plan`, … */
export type GroupName =
  | 'inputMessages'
  | 'outputMessages'
  | 'promptMessages'
  | 'completionMessages'
  | 'promptTexts'
  | 'choiceTexts'
  | 'toolSchemas'
  | 'functions'
  | 'documents'
  | 'rerankedDocuments'
  | 'embeddings'
  | 'handoffs'
  | 'parameters'
  | 'looseParameters'
  | 'metadata'
  | 'sessionMetadata'
  | 'vectorSearch'
  | 'evaluation'
  | 'annotations'
  | 'sessionAnnotations'
  | 'namedScores'

/** One span with its attributes sorted by meaning. */
export type SpanReading = {
  span: Span
  fields: Fields
  groups: { [Name in GroupName]?: FlatEntry[] }
  dialects: DialectSet
  /** One bit for each dialect whose signs the span has. */
  signs: number
  /** Dialects that threw while reading this span. */
  failures: DialectFailure[]
  /** True when nobody will look at the payload: what only a step's content needs is not read. */
  isOutlineOnly: boolean
  /** Set while reading, when a value was cut. */
  isTruncated: boolean
  /** Input and output once they are parsed; see `payload.ts`. */
  parsed: { input?: unknown; output?: unknown; invocation?: unknown }
}

/** The kind of a step, and the question that only the whole session can answer. */
export type KindResult = { kind: StepKind; question?: TreeQuestion }

/** How a span counts its input tokens. */
export type UsageContext = {
  provider: string | undefined
  /** The provider reports cached tokens apart from the input: Anthropic, Bedrock. */
  isSplitProvider: boolean
  /** The tokens come from the recorded response, not from attributes. */
  isFromResponse: boolean
}

/**
 * One convention of span attributes. A span may use several: every field is taken from the first dialect, in the order
 * of `all-dialects.ts`, that has a value for it.
 */
export type Dialect = {
  /** The label of a step that mostly follows this dialect. */
  name: string
  /** Prefixes of keys that only this dialect uses. */
  signs?: readonly string[]
  /** Prefixes of the names of its instrumentation scopes. */
  scopes?: readonly string[]
  numbers?: { [Name in NumberField]?: readonly string[] }
  texts?: { [Name in TextField]?: readonly string[] }
  values?: { [Name in ValueField]?: readonly string[] }
  /** Key prefixes of each group. */
  groups?: Readonly<Record<string, GroupName>>
  /** Unpacks attributes that hold several fields, before anything else is read. */
  expand?: (reading: SpanReading) => void
  /** The kind, if the span states it in the dialect's terms. */
  kind?: (reading: SpanReading) => KindResult | undefined
  /** What the model was sent, system first. */
  inputMessages?: (reading: SpanReading, kind: StepKind) => Message[] | undefined
  /** What the model replied. */
  outputMessages?: (reading: SpanReading, kind: StepKind) => Message[] | undefined
  /** Other senders use its message keys too: they are read from every span. */
  hasSharedMessageKeys?: true
  /** True when the reported input tokens leave out cached ones. */
  excludesCache?: (reading: SpanReading, context: UsageContext) => boolean
  /** True when the tokens are the sum of steps below. */
  isUsageRollup?: (reading: SpanReading) => boolean
  /** True when the sender estimated the tokens with a tokenizer. */
  isUsageEstimated?: (reading: SpanReading) => boolean
  /** `gen_ai.server.time_to_first_token` is in milliseconds instead of seconds. */
  hasFirstTokenInMs?: true
  /** A recorded exception means failure even when the status is OK. */
  failsByException?: true
}
