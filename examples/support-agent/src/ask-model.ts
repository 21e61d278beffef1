import OpenAI from 'openai'

export type Message = OpenAI.ChatCompletionMessageParam

export const MODEL = 'gpt-4o'

/** An ordinary client: after `playhead.init()`, its calls are recorded. */
export function openai(): OpenAI {
  return new OpenAI({ apiKey: process.env.OPENAI_API_KEY ?? 'none' })
}

export async function askModel(messages: Message[], model = MODEL): Promise<string> {
  const { choices } = await openai().chat.completions.create({ model, messages })
  return choices[0]?.message.content ?? ''
}

/** The same, but streamed. */
export async function streamModel(messages: Message[], model = MODEL): Promise<string> {
  const stream = await openai().chat.completions.create({
    model,
    messages,
    stream: true,
    stream_options: { include_usage: true },
  })
  let text = ''
  for await (const { choices } of stream) text += choices[0]?.delta.content ?? ''
  return text
}
