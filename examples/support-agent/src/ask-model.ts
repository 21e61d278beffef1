export type Message = { role: 'system' | 'user' | 'assistant'; content: string }

type Completion = { choices: { message: { content: string } }[] }

const MODEL = 'gpt-4o'
const ATTEMPTS = 3

/** Where models answer: any server that speaks OpenAI's API. */
export function modelUrl(): string {
  return `${process.env.OPENAI_BASE_URL ?? 'https://api.openai.com/v1'}/chat/completions`
}

/** Asks the model with nothing but `fetch`; that `init()` was called is enough for the call to be recorded. */
export async function askModel(messages: Message[]): Promise<string> {
  const response = await request({ model: MODEL, messages })
  const { choices } = (await response.json()) as Completion
  return choices[0]?.message.content ?? ''
}

/** The same, piece by piece as the answer comes. */
export async function* streamModel(messages: Message[]): AsyncGenerator<string> {
  const response = await request({
    model: MODEL,
    messages,
    stream: true,
    stream_options: { include_usage: true },
  })
  let rest = ''
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (!line.startsWith('data: {')) continue
      const { choices } = JSON.parse(line.slice('data: '.length)) as {
        choices: { delta: { content?: string } }[]
      }
      const text = choices[0]?.delta.content
      if (text) yield text
    }
  }
}

/** A model that is busy is asked again, when it says. */
async function request(body: object, attempt = 1): Promise<Response> {
  const response = await fetch(modelUrl(), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${process.env.OPENAI_API_KEY ?? 'none'}`,
    },
    body: JSON.stringify(body),
  })
  if (response.ok) return response
  if (response.status !== 429 || attempt === ATTEMPTS)
    throw new Error(`The model answered ${response.status}: ${await response.text()}`)
  await response.body?.cancel()
  const seconds = Number(response.headers.get('retry-after') ?? 1)
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  return request(body, attempt + 1)
}
