import { hex, type SpanOptions } from '../otlp.ts'

export const NOW = Date.now()

type CallOptions = { tool: string; given: unknown; result?: unknown; error?: string }

/** A session of a model that calls tools: each call is a model's turn and an action. */
export function toolSession(
  calls: readonly CallOptions[],
  options: {
    traceId?: string
    name?: string
    startMs?: number
    answer?: string
    endState?: 'Success' | 'Fail'
    userId?: string
    reason?: string
    request?: string
    /** Tools that the model could have called. */
    offered?: readonly string[]
    /** Why the model stopped talking, in its last turn. */
    finishReason?: string
  } = {},
): SpanOptions[] {
  const {
    traceId = hex(16),
    name = 'agent',
    startMs = NOW - 60_000,
    answer,
    endState,
    userId,
    reason,
    request = 'Please help me with my order',
    offered = [],
    finishReason,
  } = options
  const rootId = hex(8)
  const spans: SpanOptions[] = []
  let atMs = startMs + 10
  const say = (parts: unknown[], stop?: string) => {
    spans.push({
      traceId,
      spanId: hex(8),
      parentSpanId: rootId,
      name: 'chat gpt-4o',
      startMs: atMs,
      endMs: atMs + 10,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'gpt-4o',
        'gen_ai.input.messages': JSON.stringify([
          { role: 'user', parts: [{ type: 'text', content: request }] },
        ]),
        'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts }]),
        ...(offered.length > 0 && {
          'gen_ai.tool.definitions': JSON.stringify(
            offered.map((tool) => ({ type: 'function', name: tool })),
          ),
        }),
        ...(stop !== undefined && { 'gen_ai.response.finish_reasons': [stop] }),
      },
    })
    atMs += 20
  }
  for (const { tool, given, result, error } of calls) {
    const id = `call_${hex(4)}`
    say([{ type: 'tool_call', id, name: tool, arguments: given }])
    spans.push({
      traceId,
      spanId: hex(8),
      parentSpanId: rootId,
      name: `execute_tool ${tool}`,
      startMs: atMs,
      endMs: atMs + 10,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': tool,
        'gen_ai.tool.call.id': id,
        'gen_ai.tool.call.arguments': JSON.stringify(given),
        ...(error === undefined
          ? { 'gen_ai.tool.call.result': JSON.stringify(result ?? null) }
          : { 'error.type': 'Error' }),
      },
      ...(error !== undefined && { status: { code: 2, message: error } }),
    })
    atMs += 20
  }
  if (answer !== undefined) say([{ type: 'text', content: answer }], finishReason)
  const root: SpanOptions = {
    traceId,
    spanId: rootId,
    name: `invoke_agent ${name}`,
    startMs,
    endMs: atMs,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': name,
      ...(endState !== undefined && { 'playhead.session.end_state': endState }),
      ...(reason !== undefined && { 'playhead.session.end_state_reason': reason }),
      ...(userId !== undefined && { 'user.id': userId }),
    },
  }
  return [root, ...spans]
}

/** The same search five times, without a result. */
export function loopSession(options: Parameters<typeof toolSession>[1] = {}): SpanOptions[] {
  const search = { tool: 'search_help', given: { query: 'share a calendar' }, result: { articles: [] } }
  return toolSession([search, search, search, search, search], {
    name: 'help center',
    endState: 'Fail',
    ...options,
  })
}

/** A session in which all is well. */
export function healthySession(options: Parameters<typeof toolSession>[1] = {}): SpanOptions[] {
  return toolSession([{ tool: 'search_help', given: { query: 'plans' }, result: { articles: ['plans'] } }], {
    name: 'help center',
    answer: 'There are three plans, and you can change at any time.',
    ...options,
  })
}
