import type { Attributes } from '@opentelemetry/api'
import type { SessionTest } from '@playhead/model'
import { serializeValue, type SerializeOptions } from '../value/serialize-value.ts'

/** What can be said of a session when it starts. */
export type SessionOptions = {
  /** What it is called in lists; without it the first agent or what it was asked gives the name. */
  name?: string | undefined
  tags?: readonly string[] | undefined
  /** Anything else to know of it, by name. */
  metadata?: Readonly<Record<string, unknown>> | undefined
  /** Whom the agent works for. */
  userId?: string | undefined
  /** The conversation that the session is a turn of. */
  threadId?: string | undefined
  /** The test that it is recorded in; test integrations set it. */
  test?: SessionTest | undefined
}

/** The attributes of the step that stands for a session. */
export function sessionAttributes(
  options: SessionOptions,
  tags: readonly string[],
  serializeOptions: SerializeOptions,
): Attributes {
  const { name, metadata, userId, threadId, test } = options
  const all = [...new Set([...tags, ...(options.tags ?? [])])]
  return {
    'playhead.step.kind': 'workflow',
    ...(name !== undefined && { 'playhead.session.name': name }),
    ...(all.length > 0 && { 'playhead.session.tags': all }),
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
