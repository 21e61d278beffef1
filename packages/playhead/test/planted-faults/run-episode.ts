import Anthropic from '@anthropic-ai/sdk'
import type { Session } from '@playhead/model'
import { type ModelRequest, type Reply } from '@playhead/scripted-model'
import OpenAI from 'openai'
import * as playhead from '../../src/index.ts'
import { requireRecorder } from '../../src/record/session/active-recorder.ts'
import { tools, type Episode, type PlannedCall, type PlannedTurn } from './episode.ts'

/** Runs an episode with a real client against the scripted model, and returns the session that was recorded. */
export async function runEpisode(
  episode: Episode,
  { url, key, hasFailed }: { url: string; key: string; hasFailed: boolean },
): Promise<Session> {
  const { id } = playhead.startSession({ name: episode.agent, input: episode.request })
  const converse = episode.agent === 'order desk' ? converseWithOpenAi : converseInTeam
  const request = `${episode.request} [${key}]`
  try {
    await converse(episode, request, url)
    await playhead.endSession(hasFailed ? 'Fail' : 'Success')
  } catch (error) {
    await playhead.endSession('Fail', { reason: String(error) })
  }
  const recorder = requireRecorder('findings')!
  return recorder.readSession(recorder.findRecord(id)!, { isPriced: true })
}

/** The script of the model: each conversation is recognised by its key, and each reply by its turn. */
export function scriptOf(episodes: ReadonlyMap<string, Episode>): (request: ModelRequest) => Reply {
  const refused = new Set<string>()
  return ({ messages, turn }) => {
    const key = /\[([^\]]+)\]/.exec(messages.find(({ role }) => role === 'user')?.text ?? '')?.[1] ?? ''
    const planned = episodes.get(key)?.turns[turn]
    if (planned === undefined) return 'I have nothing to add.'
    if (planned.isRefusedOnce === true && !refused.has(`${key} ${turn}`)) {
      refused.add(`${key} ${turn}`)
      return { error: { status: 429, message: 'Too many requests', retryAfterSeconds: 0 } }
    }
    return toReply(planned)
  }
}

function toReply({ text, calls, finishReason }: PlannedTurn): Reply {
  return {
    ...(text !== undefined && { text }),
    ...(calls !== undefined && {
      toolCalls: calls.map((call) => ({ name: call.tool, arguments: call.arguments })),
    }),
    ...(finishReason !== undefined && { finishReason }),
  }
}

/** Calls the tools of one turn, and tells the model about errors unless they are fatal. */
async function useTools(calls: readonly PlannedCall[]): Promise<string[]> {
  return Promise.all(
    calls.map(async (call) => {
      const run = playhead.recordTool(call.tool, (input: Record<string, unknown>) => {
        void input
        if (call.error !== undefined) throw new Error(call.error)
        return call.result
      })
      try {
        return JSON.stringify(await run(call.arguments)) ?? 'null'
      } catch (error) {
        if (call.isFatal === true) throw error
        return `Error: ${(error as Error).message}`
      }
    }),
  )
}

async function converseWithOpenAi(episode: Episode, request: string, url: string): Promise<void> {
  const client = new OpenAI({ apiKey: 'none', baseURL: `${url}/v1` })
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: 'You work at the order desk.' },
    { role: 'user', content: request },
  ]
  for (const { calls } of episode.turns) {
    const offered = Object.entries(tools[episode.agent])
    const { choices } = await client.chat.completions.create({
      model: 'gpt-4o',
      messages,
      tools: offered.map(([name, types]) => ({
        type: 'function',
        function: { name, parameters: schemaOf(types) },
      })),
    })
    const { message } = choices[0]!
    messages.push(message)
    const results = await useTools(calls ?? [])
    for (const [index, call] of (message.tool_calls ?? []).entries())
      messages.push({ role: 'tool', tool_call_id: call.id, content: results[index] ?? '' })
  }
}

/** A planner that is an agent of its own, inside a workflow, with Anthropic's client and streams. */
async function converseInTeam(episode: Episode, request: string, url: string): Promise<void> {
  const plan = playhead.agent('planner', async (question: string) => {
    const client = new Anthropic({ apiKey: 'none', baseURL: url })
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }]
    for (const { calls } of episode.turns) {
      const reply = await client.messages
        .stream({
          model: 'claude-opus-4-8',
          max_tokens: 1000,
          system: 'You plan trips.',
          messages,
          tools: Object.entries(tools[episode.agent]).map(([name, types]) => ({
            name,
            input_schema: schemaOf(types),
          })),
        })
        .finalMessage()
      messages.push({ role: 'assistant', content: reply.content })
      const results = await useTools(calls ?? [])
      const asked = reply.content.filter((block) => block.type === 'tool_use')
      if (asked.length > 0)
        messages.push({
          role: 'user',
          content: asked.map(({ id }, index) => ({
            type: 'tool_result',
            tool_use_id: id,
            content: results[index] ?? '',
          })),
        })
    }
  })
  await plan(request)
}

function schemaOf(types: Record<string, string>) {
  const properties = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }]))
  return { type: 'object' as const, properties, required: Object.keys(types) }
}
