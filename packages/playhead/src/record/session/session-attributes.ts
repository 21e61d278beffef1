import type { Attributes } from '@opentelemetry/api'
import type { SessionTest } from '@playhead/model'
import { serializeValue, type SerializeOptions } from '../value/serialize-value.ts'

/** Describes a session when it starts. */
export type SessionOptions = {
  /** Its name in lists. By default derived from the first agent or the first question. */
  name?: string | undefined
  tags?: readonly string[] | undefined
  /** Anything else worth knowing about it, by name. */
  metadata?: Readonly<Record<string, unknown>> | undefined
  /** The user that the agent works for. */
  userId?: string | undefined
  /** The conversation that the session belongs to. */
  threadId?: string | undefined
  /** The test that recorded it; set by the test integrations. */
  test?: SessionTest | undefined
}

/** The attributes of a session's root step. */
export function sessionAttributes(
  options: SessionOptions,
  tags: readonly string[],
  serializeOptions: SerializeOptions,
): Attributes {
  const { name, metadata, userId, threadId, test } = options
  const allTags = [...new Set([...tags, ...(options.tags ?? [])])]
  return {
    'playhead.step.kind': 'workflow',
    ...(name !== undefined && { 'playhead.session.name': name }),
    ...(allTags.length > 0 && { 'playhead.session.tags': allTags }),
    ...(metadata !== undefined && {
      'playhead.session.metadata': serializeValue(metadata, serializeOptions).text,
    }),
    ...(userId !== undefined && { 'user.id': userId }),
    ...(threadId !== undefined && { 'session.id': threadId }),
    ...(test !== undefined && testAttributes(test)),
  }
}

function testAttributes({ file, suite, name, attempt, variant, runId }: SessionTest): Attributes {
  return {
    ...(file !== undefined && { 'playhead.test.file': file }),
    ...(suite !== undefined && { 'playhead.test.suite': suite }),
    ...(name !== undefined && { 'playhead.test.name': name }),
    ...(attempt !== undefined && { 'playhead.test.attempt': attempt }),
    ...(variant !== undefined && { 'playhead.test.variant': variant }),
    ...(runId !== undefined && { 'playhead.test.run_id': runId }),
  }
}
