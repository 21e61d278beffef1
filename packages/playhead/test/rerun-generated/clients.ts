import Anthropic from '@anthropic-ai/sdk'
import { createOpenAI } from '@ai-sdk/openai'
import { GoogleGenAI, type Content } from '@google/genai'
import {
  AIMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessage,
} from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { z } from 'zod'
import type { Plan } from './plan.ts'

export type AskedCall = { id: string; name: string; arguments: Record<string, string> }

export type Prompt = { url: string; system: string; question: string; toolNames: readonly string[] }

/** Asks the model until it calls no more tools, and returns its answer. */
export type Conversation = (
  plan: Plan,
  prompt: Prompt,
  runCalls: (calls: AskedCall[]) => Promise<[AskedCall, string][]>,
) => Promise<string>

const parameters = {
  type: 'object' as const,
  properties: { key: { type: 'string' } },
}

const inputSchema = z.looseObject({ key: z.string() })

export const openAiChat: Conversation = async (plan, { url, system, question, toolNames }, runCalls) => {
  const client = new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 4 })
  const tools = toolNames.map((name) => ({ type: 'function' as const, function: { name, parameters } }))
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: system },
    { role: 'user', content: question },
  ]
  for (;;) {
    const request = { model: 'gpt-4o', messages, tools }
    if (plan.abortAfter !== undefined && isLastTurn(plan, messages)) {
      const stream = await client.chat.completions.create({ ...request, stream: true })
      let text = ''
      let pieces = 0
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? ''
        if (text !== '') pieces += 1
        if (pieces === plan.abortAfter) break
      }
      return text
    }
    const completion = plan.isStream
      ? await client.chat.completions
          .stream({ ...request, stream_options: { include_usage: true } })
          .finalChatCompletion()
      : await client.chat.completions.create(request)
    const { message } = completion.choices[0]!
    const calls = (message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function'
        ? [
            {
              id: call.id,
              name: call.function.name,
              arguments: JSON.parse(call.function.arguments) as AskedCall['arguments'],
            },
          ]
        : [],
    )
    if (calls.length === 0) return message.content ?? ''
    messages.push({ role: 'assistant', content: message.content, tool_calls: message.tool_calls! })
    for (const [{ id }, content] of await runCalls(calls))
      messages.push({ role: 'tool', tool_call_id: id, content })
  }
}

function isLastTurn(plan: Plan, messages: readonly { role: string }[]): boolean {
  return messages.filter(({ role }) => role === 'assistant').length === plan.turns.length - 1
}

export const openAiResponses: Conversation = async (plan, { url, system, question, toolNames }, runCalls) => {
  const client = new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 4 })
  const tools = toolNames.map((name) => ({ type: 'function' as const, name, parameters, strict: false }))
  const items: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: question }]
  // Half of them continue the response by its id, the others send everything again.
  const isContinued = plan.hasVolatilePrompt
  let input = [...items]
  let previous: string | undefined
  for (;;) {
    const request = {
      model: 'gpt-5-mini',
      instructions: system,
      input,
      tools,
      previous_response_id: previous ?? null,
    }
    const response = plan.isStream
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request)
    const calls = response.output.flatMap((item) =>
      item.type === 'function_call'
        ? [
            {
              id: item.call_id,
              name: item.name,
              arguments: JSON.parse(item.arguments) as AskedCall['arguments'],
            },
          ]
        : [],
    )
    if (calls.length === 0) return response.output_text
    const results = (await runCalls(calls)).map(([{ id }, output]) => ({
      type: 'function_call_output' as const,
      call_id: id,
      output,
    }))
    items.push(...(response.output as OpenAI.Responses.ResponseInputItem[]), ...results)
    previous = isContinued ? response.id : undefined
    input = isContinued ? results : [...items]
  }
}

export const anthropicMessages: Conversation = async (
  plan,
  { url, system, question, toolNames },
  runCalls,
) => {
  const client = new Anthropic({ apiKey: 'none', baseURL: url, maxRetries: 4 })
  const tools = toolNames.map((name) => ({ name, input_schema: parameters }))
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }]
  for (;;) {
    const request = { model: 'claude-opus-4-6', max_tokens: 1000, system, messages, tools }
    if (plan.abortAfter !== undefined && isLastTurn(plan, messages)) {
      let text = ''
      let pieces = 0
      for await (const event of await client.messages.create({ ...request, stream: true })) {
        if (event.type !== 'content_block_delta' || event.delta.type !== 'text_delta') continue
        text += event.delta.text
        pieces += 1
        if (pieces === plan.abortAfter) break
      }
      return text
    }
    const message = plan.isStream
      ? await client.messages.stream(request).finalMessage()
      : await client.messages.create(request)
    const calls = message.content.flatMap((block) =>
      block.type === 'tool_use'
        ? [{ id: block.id, name: block.name, arguments: block.input as AskedCall['arguments'] }]
        : [],
    )
    if (calls.length === 0)
      return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    messages.push({ role: 'assistant', content: message.content })
    const content = (await runCalls(calls)).map(([{ id }, told]) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      content: told,
    }))
    messages.push({ role: 'user', content })
  }
}

export const gemini: Conversation = async (plan, { url, system, question, toolNames }, runCalls) => {
  const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: url } })
  const functionDeclarations = toolNames.map((name) => ({ name, parametersJsonSchema: parameters }))
  const config = { systemInstruction: system, tools: [{ functionDeclarations }] }
  const contents: Content[] = [{ role: 'user', parts: [{ text: question }] }]
  for (;;) {
    const request = { model: 'gemini-2.5-flash', contents, config }
    const parts = await withRetries(async () => {
      if (!plan.isStream)
        return (await client.models.generateContent(request)).candidates![0]!.content!.parts!
      const pieces = []
      for await (const chunk of await client.models.generateContentStream(request))
        pieces.push(...(chunk.candidates?.[0]?.content?.parts ?? []))
      return pieces
    })
    const calls = parts.flatMap(({ functionCall }, index) =>
      functionCall === undefined
        ? []
        : [
            {
              id: String(index),
              name: functionCall.name!,
              arguments: functionCall.args as AskedCall['arguments'],
            },
          ],
    )
    if (calls.length === 0) return parts.map(({ text }) => text ?? '').join('')
    contents.push({ role: 'model', parts })
    const results = (await runCalls(calls)).toSorted(([one], [other]) => Number(one.id) - Number(other.id))
    contents.push({
      role: 'user',
      parts: results.map(([{ name }, output]) => ({ functionResponse: { name, response: { output } } })),
    })
  }
}

export const langChain: Conversation = async (plan, { url, system, question, toolNames }, runCalls) => {
  const chat = new ChatOpenAI({
    model: 'gpt-4o-mini',
    apiKey: 'none',
    maxRetries: 0,
    configuration: { baseURL: `${url}/v1` },
  })
  const model = chat.bindTools(
    toolNames.map((name) => ({ type: 'function' as const, function: { name, parameters } })),
  )
  const messages: BaseMessage[] = [new SystemMessage(system), new HumanMessage(question)]
  for (;;) {
    const answer = await withRetries(async () => {
      if (!plan.isStream) return model.invoke(messages)
      let whole: Awaited<ReturnType<typeof model.invoke>> | undefined
      for await (const chunk of await model.stream(messages))
        whole = whole === undefined ? chunk : whole.concat(chunk)
      return whole!
    })
    const calls = (answer.tool_calls ?? []).map(({ id, name, args }) => ({
      id: id!,
      name,
      arguments: args as AskedCall['arguments'],
    }))
    if (calls.length === 0) return answer.text
    messages.push(new AIMessage({ content: answer.content, tool_calls: answer.tool_calls! }))
    for (const [{ id }, content] of await runCalls(calls))
      messages.push(new ToolMessage({ tool_call_id: id, content }))
  }
}

export const aiSdk: Conversation = async (plan, { url, system, question, toolNames }, runCalls) => {
  const openai = createOpenAI({ apiKey: 'none', baseURL: `${url}/v1` })
  const tools = Object.fromEntries(
    toolNames.map((name) => [
      name,
      tool({
        inputSchema,
        execute: async (given, { toolCallId: id }) =>
          (await runCalls([{ id, name, arguments: given as AskedCall['arguments'] }]))[0]![1],
      }),
    ]),
  )
  const request = {
    model: openai.chat('gpt-4.1'),
    system,
    prompt: question,
    tools,
    stopWhen: stepCountIs(8),
    maxRetries: 4,
  }
  const onError = () => {}
  return plan.isStream ? await streamText({ ...request, onError }).text : (await generateText(request)).text
}

const MAX_RETRIES = 4

async function withRetries<Result>(ask: () => Promise<Result>): Promise<Result> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await ask()
    } catch (error) {
      const { status } = error as { status?: number }
      if (status === undefined || (status !== 429 && status < 500) || attempt === MAX_RETRIES) throw error
    }
  }
}
