import { hex, type SpanOptions } from '../packages/server/test/otlp.ts'

type Chat = {
  model?: string
  system?: string
  sent: unknown[]
  answer: unknown[]
  input?: number
  output?: number
  chunks?: [offsetMs: number, text: string][]
  tools?: unknown[]
  finish?: string
}

export type SampleSession = { traceId: string; spans: SpanOptions[]; resource: Record<string, unknown> }

type Place = { traceId: string; parentSpanId?: string; startMs: number; endMs?: number }

/** The ids of a new session, and the start and end of its steps in milliseconds since its start. */
export function beginSession(startMs: number) {
  const [traceId, root] = [hex(16), hex(8)]
  const at = (fromMs: number, toMs: number) => ({
    traceId,
    parentSpanId: root,
    startMs: startMs + fromMs,
    endMs: startMs + toMs,
  })
  return { traceId, root, at }
}

/** A message with one text part, in OpenTelemetry's format. */
export function said(role: string, content: string) {
  return { role, parts: [{ type: 'text', content }] }
}

export function called(id: string, name: string, given: unknown) {
  return { role: 'assistant', parts: [{ type: 'tool_call', id, name, arguments: given }] }
}

export function returned(id: string, response: unknown) {
  return { role: 'tool', parts: [{ type: 'tool_call_response', id, response }] }
}

/** A model call. */
export function chatSpan(place: Place, chat: Chat): SpanOptions {
  const { model = 'gpt-4o', system, sent, answer, input, output, chunks, tools } = chat
  return {
    ...place,
    spanId: hex(8),
    name: `chat ${model}`,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': model,
      'gen_ai.response.model': model,
      'gen_ai.request.temperature': 0.2,
      ...(system !== undefined && {
        'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: system }]),
      }),
      'gen_ai.input.messages': JSON.stringify(sent),
      ...(place.endMs !== undefined && {
        'gen_ai.output.messages': JSON.stringify(answer),
        'gen_ai.response.finish_reasons': [chat.finish ?? 'stop'],
        ...(input !== undefined && { 'gen_ai.usage.input_tokens': input }),
        ...(output !== undefined && { 'gen_ai.usage.output_tokens': output }),
      }),
      ...(tools !== undefined && { 'gen_ai.tool.definitions': JSON.stringify(tools) }),
      ...(chunks !== undefined && {
        'playhead.stream.chunks': JSON.stringify(chunks),
        'gen_ai.response.time_to_first_chunk': (chunks[0]?.[0] ?? 0) / 1000,
      }),
    },
  }
}

type ActionSpan = {
  name: string
  given: unknown
  result?: unknown
  callId?: string
  effect?: 'read' | 'write'
  error?: { type: string; message: string; stack?: string }
}

/** A tool call or a recorded function. */
export function actionSpan(
  place: Place,
  { name, given, result, callId, effect, error }: ActionSpan,
): SpanOptions {
  return {
    ...place,
    spanId: hex(8),
    name: `execute_tool ${name}`,
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      ...(callId !== undefined && { 'gen_ai.tool.call.id': callId }),
      ...(effect !== undefined && { 'playhead.step.effect': effect }),
      'gen_ai.tool.call.arguments': JSON.stringify(given),
      ...(result !== undefined && { 'gen_ai.tool.call.result': JSON.stringify(result) }),
    },
    ...(error !== undefined && {
      status: { code: 2, message: error.message },
      events: [
        {
          name: 'exception',
          timeMs: place.endMs ?? place.startMs,
          attributes: {
            'exception.type': error.type,
            'exception.message': error.message,
            ...(error.stack !== undefined && { 'exception.stacktrace': error.stack }),
          },
        },
      ],
    }),
  }
}

type AgentSpan = { name: string } & Pick<SpanOptions, 'attributes' | 'status' | 'events'>

export function agentSpan(place: Place & { spanId: string }, { name, ...more }: AgentSpan): SpanOptions {
  return {
    ...place,
    ...more,
    name: `invoke_agent ${name}`,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': name,
      ...more.attributes,
    },
  }
}

/** A span of any kind, with Playhead's own attributes. */
export function kindSpan(
  place: Place,
  kind: string,
  name: string,
  attributes: Record<string, unknown> = {},
): SpanOptions {
  return { ...place, spanId: hex(8), name, attributes: { 'playhead.step.kind': kind, ...attributes } }
}

/** Splits text into the chunks of a stream, from `firstMs` to `lastMs`. */
export function streamOf(text: string, firstMs: number, lastMs: number): [offsetMs: number, text: string][] {
  const pieces = text.match(/\S+\s*/g) ?? [text]
  return pieces.map((piece, index) => [
    Math.round(firstMs + ((lastMs - firstMs) * index) / Math.max(1, pieces.length - 1)),
    piece,
  ])
}
