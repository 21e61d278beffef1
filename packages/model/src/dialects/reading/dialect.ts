import type { Message } from '../../session/message.ts'
import type { Span } from '../../otlp/span.ts'
import type { StepKind } from '../../session/step.ts'
import type { TreeQuestion } from '../../session/step-draft.ts'
import type { Fields, NumberField, TextField, ValueField } from './fields.ts'
import type { FlatEntry } from './flattened-keys.ts'

/** Attributes that make one list or object together: `llm.input_messages.0.message.role`, `mastra.metadata.plan`, … */
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

/** One span, its attributes sorted by meaning. */
export type Reading = {
  span: Span
  fields: Fields
  groups: { [Name in GroupName]?: FlatEntry[] }
  /** One bit for each dialect that the span speaks; see `speaks`. */
  signs: number
  /** Set while reading, when a value turns out to be cut. */
  isTruncated: boolean
  /** Input and output once they are parsed; see `payload.ts`. */
  parsed: { input?: unknown; output?: unknown; invocation?: unknown }
}

/** The bit of `signs` that every span has, for what needs no sign. */
export const ALWAYS = 1 << 30

/** What a step is, and what only its session can tell. */
export type KindAnswer = { kind: StepKind; question?: TreeQuestion }

/**
 * One convention of span attributes. A span may speak several: every field is taken from the first dialect, in the
 * order of `all-dialects.ts`, that has a value for it.
 */
export type Dialect = {
  /** The label that a step gets when this is the dialect that says most of it. */
  name: string
  /** How keys begin that only this dialect uses. */
  signs?: readonly string[]
  /** How the names of its instrumentation scopes begin. */
  scopes?: readonly string[]
  numbers?: { [Name in NumberField]?: readonly string[] }
  texts?: { [Name in TextField]?: readonly string[] }
  values?: { [Name in ValueField]?: readonly string[] }
  /** How the keys of a group begin. */
  groups?: Readonly<Record<string, GroupName>>
  /** Sorts what hides inside a single attribute, before anything else is read. */
  expand?: (reading: Reading) => void
  /** What its own words say about the kind of step. */
  kind?: (reading: Reading) => KindAnswer | undefined
  /** What the model was sent, system first. */
  inputMessages?: (reading: Reading) => Message[] | undefined
  /** What the model answered. */
  outputMessages?: (reading: Reading) => Message[] | undefined
}
