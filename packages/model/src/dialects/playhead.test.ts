import { expect, test } from 'vitest'
import { stepOf } from '../../test/steps-of.ts'

test('keys of our own SDK take precedence', () => {
  const { outline, content } = stepOf({
    name: 'fetch_customer_data',
    scope: 'playhead',
    attributes: {
      'playhead.step.kind': 'action',
      'gen_ai.operation.name': 'chat',
      'gen_ai.tool.name': 'fetch_customer_data',
      'playhead.action.arguments': '{"customer_id":null}',
      'gen_ai.tool.call.arguments': '{"other":1}',
      'playhead.action.result': '{"ok":true}',
      'playhead.step.effect': 'read',
      'playhead.step.source': 'tape',
      'playhead.truncated': true,
    },
  })

  expect(outline).toMatchObject({
    kind: 'action',
    name: 'fetch_customer_data',
    dialect: 'playhead',
    effect: 'read',
    source: 'tape',
    inputPreview: 'customer_id=null',
    isTruncated: true,
  })
  expect(content.tool).toEqual({
    name: 'fetch_customer_data',
    arguments: { customer_id: null },
    result: { ok: true },
  })
})

test('session facts come from the span, then from the resource', () => {
  const { outline } = stepOf({
    parentSpanId: null,
    attributes: {
      'playhead.step.kind': 'agent',
      'playhead.session.name': 'support',
      'playhead.session.tags': ['support', 'v2.1'],
      'playhead.session.end_state': 'Fail',
      'playhead.session.end_state_reason': 'ValueError: customer_id cannot be None',
      'playhead.session.metadata': '{"plan":"pro"}',
      'session.id': 'thread-1',
      'user.id': 'u-1',
    },
    resource: {
      'playhead.session.name': 'not this',
      'playhead.test.file': 'agent.test.ts',
      'playhead.test.suite': 'refunds',
      'playhead.test.name': 'asks for the invoice',
      'playhead.test.attempt': 2,
      'playhead.test.variant': 'polite',
      'playhead.test.run_id': 'run-1',
      'vcs.ref.head.name': 'main',
      'vcs.ref.head.revision': 'abc123',
      'playhead.demo': true,
      'deployment.environment.name': 'ci',
    },
  })

  expect(outline.session).toEqual({
    name: 'support',
    threadId: 'thread-1',
    userId: 'u-1',
    environment: 'ci',
    endStateReason: 'ValueError: customer_id cannot be None',
    endState: 'fail',
    tags: ['support', 'v2.1'],
    test: {
      file: 'agent.test.ts',
      suite: 'refunds',
      name: 'asks for the invoice',
      attempt: 2,
      variant: 'polite',
      runId: 'run-1',
    },
    vcs: { branch: 'main', commit: 'abc123' },
    demo: true,
    metadata: { plan: 'pro' },
  })
})

test('the content has the causes of an error, the outline its first line', () => {
  const { outline, content } = stepOf({
    statusCode: 2,
    attributes: {
      'playhead.step.kind': 'action',
      'playhead.step.error': JSON.stringify({
        type: 'ValueError',
        message: 'customer_id cannot be None',
        stack: 'at f',
        cause: { type: 'KeyError', message: 'customer' },
      }),
    },
  })

  expect(outline).toMatchObject({
    status: 'error',
    error: { type: 'ValueError', message: 'customer_id cannot be None' },
  })
  expect(content.error).toEqual({
    type: 'ValueError',
    message: 'customer_id cannot be None',
    stack: 'at f',
    cause: { type: 'KeyError', message: 'customer' },
  })
})

test('a stream that was aborted is marked, by our SDK or by the finish reason', () => {
  const ours = stepOf({ attributes: { 'gen_ai.operation.name': 'chat', 'playhead.stream.aborted': true } })
  const others = stepOf({
    attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.response.finish_reasons': ['cancelled'] },
  })
  const complete = stepOf({
    attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.response.finish_reasons': ['stop'] },
  })

  expect([ours, others, complete].map(({ outline }) => outline.isStreamAborted)).toEqual([
    true,
    true,
    undefined,
  ])
})

test('soft errors and stream chunks are read', () => {
  const { outline, content } = stepOf({
    attributes: {
      'playhead.step.kind': 'action',
      'playhead.step.soft_error': '{"type":"NotFound","message":"no such customer"}',
      'playhead.stream.chunks': '[[12,"Hel"],[30.5,"lo"],["x"],null]',
      'gen_ai.response.time_to_first_chunk': 0.012,
    },
  })

  expect(outline).toMatchObject({
    status: 'soft-error',
    error: { type: 'NotFound', message: 'no such customer' },
  })
  expect(content.streaming).toEqual({
    firstTokenMs: 12,
    chunks: [
      [12, 'Hel'],
      [30.5, 'lo'],
    ],
  })
})
