import type { Attributes } from '@opentelemetry/api'
import type { SessionTest } from '@playhead/model'
import { readField, readFields, toName, toNames } from '../value/host-value.ts'
import { serializeValue, type SerializeOptions } from '../value/serialize-value.ts'

/** Describes a session when it starts. */
export type SessionOptions = {
  /** Its name in lists. By default derived from the first agent or the first question. */
  name?: string | undefined
  tags?: readonly string[] | undefined
  /** What the agent was given: text, or any data. With it the session can be run again (`playhead rerun`). */
  input?: unknown
  /** Anything else worth knowing about it, by name. */
  metadata?: Readonly<Record<string, unknown>> | undefined
  /** The user that the agent works for. */
  userId?: string | undefined
  /** The conversation that the session belongs to. */
  threadId?: string | undefined
  /** The test that recorded it; set by the test integrations. */
  test?: SessionTest | undefined
}

/** The name and the attributes of a session's root step. `options` come from the host. */
export function describeSession(
  options: SessionOptions,
  tags: readonly string[],
  serializeOptions: SerializeOptions,
): { name: string; attributes: Attributes } {
  const { metadata, test, input } = readFields(options, ['metadata', 'test', 'input'])
  const { name, userId, threadId } = readNames(options, ['name', 'userId', 'threadId'])
  const allTags = [...new Set([...tags, ...toNames(readField(options, 'tags'))])]
  const attributes: Attributes = {
    'playhead.step.kind': 'workflow',
    ...(name !== undefined && { 'playhead.session.name': name }),
    ...(allTags.length > 0 && { 'playhead.session.tags': allTags }),
    ...(input !== undefined && { 'playhead.session.input': serializeValue(input, serializeOptions).text }),
    ...(metadata !== undefined && {
      'playhead.session.metadata': serializeValue(metadata, serializeOptions).text,
    }),
    ...(userId !== undefined && { 'user.id': userId }),
    ...(threadId !== undefined && { 'session.id': threadId }),
    ...(test !== undefined && testAttributes(test)),
  }
  return { name: name ?? 'session', attributes }
}

function testAttributes(test: unknown): Attributes {
  const { file, suite, name, variant, runId } = readNames(test, ['file', 'suite', 'name', 'variant', 'runId'])
  const attempt = readField(test, 'attempt')
  return {
    ...(file !== undefined && { 'playhead.test.file': file }),
    ...(suite !== undefined && { 'playhead.test.suite': suite }),
    ...(name !== undefined && { 'playhead.test.name': name }),
    ...(typeof attempt === 'number' && { 'playhead.test.attempt': attempt }),
    ...(variant !== undefined && { 'playhead.test.variant': variant }),
    ...(runId !== undefined && { 'playhead.test.run_id': runId }),
  }
}

function readNames<Field extends string>(
  holder: unknown,
  fields: readonly Field[],
): Record<Field, string | undefined> {
  return Object.fromEntries(fields.map((field) => [field, toName(readField(holder, field))])) as Record<
    Field,
    string | undefined
  >
}
