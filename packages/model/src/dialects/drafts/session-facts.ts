import { parseEndState } from '../../session/end-state.ts'
import { lanes, readForkEdit, type RerunFacts } from '../../session/rerun.ts'
import type { SessionTest } from '../../session/session.ts'
import type { StepKind } from '../../session/step.ts'
import type { SessionFacts } from '../../session/step-draft.ts'
import {
  firstText,
  isMeaningful,
  isRecord,
  isUnsafeKey,
  textOf,
  toFlag,
  toText,
} from '../../json/attribute-value.ts'
import type { SpanReading } from '../reading/dialect.ts'
import type { Fields } from '../reading/fields.ts'
import { parseJson } from '../../json/json-text.ts'
import { readResource } from '../reading/read-span.ts'

/** Longer values are payloads, not metadata. */
const MAX_METADATA_LENGTH = 2000

/** What a span or its resource says about the session; undefined when it says nothing. */
export function sessionFactsOf(reading: SpanReading, kind: StepKind): SessionFacts | undefined {
  const { fields, span } = reading
  const resource = readResource(span.resource, reading.dialects)
  const facts: SessionFacts = {}
  const isRoot = span.parentSpanId === null || toFlag(fields.isSessionRoot) === true
  const metadata = isRoot || fields.threadId === undefined ? parseJson(fields.metadata) : undefined
  const inMetadata = isRecord(metadata) ? metadata : undefined
  setText(facts, 'name', fields.sessionName ?? resource.sessionName)
  setText(
    facts,
    'threadId',
    fields.threadId ??
      firstText(inMetadata?.session_id, inMetadata?.thread_id, inMetadata?.conversation_id) ??
      resource.threadId,
  )
  setText(facts, 'userId', fields.userId ?? firstText(inMetadata?.user_id) ?? resource.userId)
  setText(facts, 'environment', fields.environment ?? resource.environment)
  setText(facts, 'version', fields.serviceVersion ?? resource.serviceVersion)
  setText(facts, 'endStateReason', fields.endStateReason ?? resource.endStateReason)
  const endState = fields.endState ?? resource.endState
  if (endState !== undefined) facts.endState = parseEndState(endState)
  const tags = tagsOf(fields.tags) ?? tagsOf(resource.tags)
  if (tags !== undefined) facts.tags = tags
  addSource(facts, fields, resource)
  addMetadata(facts, metadataOf(reading, { isRoot, kind, given: inMetadata, resource }))
  return isMeaningful(facts) ? facts : undefined
}

function setText(
  facts: SessionFacts,
  name: 'name' | 'threadId' | 'userId' | 'environment' | 'version' | 'endStateReason',
  value: string | undefined,
): void {
  if (value !== undefined) facts[name] = value
}

/** Tags as a list, as JSON, or separated by commas. */
function tagsOf(value: unknown): string[] | undefined {
  if (value === undefined) return undefined
  const given = parseJson(value)
  const list: unknown[] = Array.isArray(given) ? given : typeof given === 'string' ? given.split(',') : []
  const tags = list.map((tag) => toText(tag)?.trim()).filter((tag) => tag !== undefined && tag !== '')
  return tags.length === 0 ? undefined : (tags as string[])
}

/** Adds the test, branch, commit, demo flag and the session that was run again. */
function addSource(facts: SessionFacts, fields: Fields, resource: Fields): void {
  const test = testOf(fields) ?? testOf(resource)
  if (test !== undefined) facts.test = test
  const branch = fields.branch ?? resource.branch
  const commit = fields.commit ?? resource.commit
  if (branch !== undefined || commit !== undefined) {
    facts.vcs = {}
    if (branch !== undefined) facts.vcs.branch = branch
    if (commit !== undefined) facts.vcs.commit = commit
  }
  if (toFlag(fields.demo ?? resource.demo) === true) facts.demo = true
  const rerun = rerunOf(fields)
  if (rerun !== undefined) facts.rerun = rerun
}

function rerunOf({ rerunParent, rerunStep, rerunLane, rerunEdit }: Fields): RerunFacts | undefined {
  const parentId = rerunParent?.toLowerCase()
  if (parentId === undefined || !/^[0-9a-f]{32}$/.test(parentId)) return undefined
  const rerun: RerunFacts = { parentId }
  const stepId = rerunStep?.toLowerCase()
  if (stepId !== undefined && /^[0-9a-f]{16}$/.test(stepId)) rerun.parentStepId = stepId
  const lane = lanes.find((name) => name === rerunLane)
  if (lane !== undefined) rerun.lane = lane
  // An edit that can't be read is empty, not absent: only a fork without an edit is unchanged.
  if (rerunEdit !== undefined) rerun.edit = readForkEdit(textOf(rerunEdit)) ?? {}
  return rerun
}

function testOf(fields: Fields): SessionTest | undefined {
  const named = fields.testName ?? fields.testFile ?? fields.testSuite ?? fields.testRunId
  if (named === undefined && fields.testVariant === undefined) return undefined
  const test: SessionTest = {}
  if (fields.testFile !== undefined) test.file = fields.testFile
  if (fields.testSuite !== undefined) test.suite = fields.testSuite
  if (fields.testName !== undefined) test.name = fields.testName
  if (fields.testAttempt !== undefined) test.attempt = fields.testAttempt
  if (fields.testVariant !== undefined) test.variant = fields.testVariant
  if (fields.testRunId !== undefined) test.runId = fields.testRunId
  return test
}

type MetadataSources = {
  isRoot: boolean
  kind: StepKind
  given: Record<string, unknown> | undefined
  resource: Fields
}

/** The metadata of a root describe the session. Of other steps, only metadata that senders repeat on every span do. */
function metadataOf({ groups }: SpanReading, { isRoot, kind, given, resource }: MetadataSources): unknown {
  const isWrapper = isRoot || kind === 'agent' || kind === 'workflow'
  if (!isWrapper) return undefined
  const metadata: Record<string, unknown> = {}
  if (isRoot) {
    const whole = given ?? parseJson(resource.metadata)
    if (isRecord(whole)) for (const key of Object.keys(whole)) keep(metadata, key, whole[key])
    for (const entry of groups.metadata ?? []) keep(metadata, String(entry.path[0]), parseJson(entry.value))
  }
  for (const entry of groups.sessionMetadata ?? [])
    keep(metadata, String(entry.path[0]), parseJson(entry.value))
  return metadata
}

function addMetadata(facts: SessionFacts, metadata: unknown): void {
  if (isRecord(metadata) && isMeaningful(metadata)) facts.metadata = metadata
}

function keep(metadata: Record<string, unknown>, key: string, value: unknown): void {
  if (isUnsafeKey(key) || !isMeaningful(value)) return
  if (typeof value === 'string' && value.length > MAX_METADATA_LENGTH) return
  metadata[key] ??= value
}
