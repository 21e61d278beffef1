/** What every program here shares: the questions, the tool, and an agent for clients without a framework. */
export const model = process.env.MODEL_URL
export const playhead = process.env.PLAYHEAD_URL
export const GPT = 'gpt-4o-mini'
export const CLAUDE = 'claude-haiku-4-5'
export const AGENT = 'weather_agent'
export const SYSTEM = 'You answer questions about the weather.'

export function getWeather({ city }) {
  if (city === 'Atlantis') throw new Error('There is no city called Atlantis.')
  return `sunny, 21C in ${city}`
}

export const parameters = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city', 'days'],
  additionalProperties: false,
}

/** Asks every question, one after the other, and goes on after a failure, as a service would. */
export async function run(ask, finish = () => {}) {
  for (const [name, question] of Object.entries(JSON.parse(process.env.QUESTIONS))) {
    try {
      console.log(`${name}: ${await ask(question, name === 'stream')}`)
    } catch (error) {
      console.log(`${name}: ${String(error).slice(0, 300)}`)
    }
  }
  await finish()
  process.exit(0)
}

function callTool(given) {
  try {
    return getWeather(given)
  } catch (error) {
    return `Error: ${error.message}`
  }
}

/** An agent on OpenAI's chat completions, as people write it by hand. */
export function openAiLoop(client, tool = callTool) {
  const tools = [{ type: 'function', function: { name: 'get_weather', parameters } }]
  return async (question, stream) => {
    const messages = [
      { role: 'system', content: SYSTEM },
      { role: 'user', content: question },
    ]
    for (;;) {
      const message = await answer(client, { model: GPT, messages, tools }, stream)
      if (!message.tool_calls?.length) return message.content
      messages.push(message)
      for (const { id, function: call } of message.tool_calls) {
        const content = await tool(JSON.parse(call.arguments))
        messages.push({ role: 'tool', tool_call_id: id, content })
      }
    }
  }
}

async function answer(client, request, stream) {
  if (!stream) return (await client.chat.completions.create(request)).choices[0].message
  const message = { role: 'assistant', content: '', tool_calls: [] }
  const chunks = await client.chat.completions.create({
    ...request,
    stream: true,
    stream_options: { include_usage: true },
  })
  for await (const { choices } of chunks) {
    for (const { delta } of choices) {
      message.content += delta.content ?? ''
      for (const { index, id, function: call } of delta.tool_calls ?? []) {
        const known = (message.tool_calls[index] ??= {
          id,
          type: 'function',
          function: { name: call.name, arguments: '' },
        })
        known.function.arguments += call.arguments ?? ''
      }
    }
  }
  return message.tool_calls.length > 0 ? { ...message, content: null } : { ...message, tool_calls: undefined }
}

/** The same agent on Anthropic's messages. */
export function anthropicLoop(client) {
  const tools = [{ name: 'get_weather', input_schema: parameters }]
  return async (question, stream) => {
    const messages = [{ role: 'user', content: question }]
    for (;;) {
      const request = { model: CLAUDE, max_tokens: 500, system: SYSTEM, messages, tools }
      const message = stream
        ? await client.messages.stream(request).finalMessage()
        : await client.messages.create(request)
      const calls = message.content.filter(({ type }) => type === 'tool_use')
      if (calls.length === 0) return message.content[0].text
      messages.push({ role: 'assistant', content: message.content })
      const results = calls.map(({ id, input }) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: callTool(input),
        is_error: input.city === 'Atlantis',
      }))
      messages.push({ role: 'user', content: results })
    }
  }
}
