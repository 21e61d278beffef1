import { randomUUID } from 'node:crypto'
import type { Rule } from '@playhead/scripted-model'
import * as playhead from '../../src/index.ts'
import {
  aiSdk,
  anthropicMessages,
  gemini,
  langChain,
  openAiChat,
  openAiResponses,
  type AskedCall,
  type Conversation,
} from './clients.ts'
import { allPlans, type ClientName, type Plan } from './plan.ts'
import { toolNames, useTool } from './tools.ts'

const conversations: Record<ClientName, Conversation> = {
  'openai chat': openAiChat,
  'openai responses': openAiResponses,
  anthropic: anthropicMessages,
  gemini,
  'ai sdk': aiSdk,
  langchain: langChain,
}

/** What the session says that it was given; the same makes the same run. */
export type PlanInput = { seed: number; index: number; url: string }

/** Runs a plan in a session of its own, and returns the id of that. */
export function runPlan(plan: Plan, input: PlanInput): Promise<string> {
  return playhead.withSession({ name: plan.name, tags: plan.traits, input }, async ({ id }) => {
    await converse(plan, input.url)
    return id
  })
}

async function converse(plan: Plan, url: string): Promise<string> {
  const helpers = new Map(allPlans(plan).map((helper) => [helper.name, helper]))
  const ask = playhead.agent('helper', (name: string) => converse(helpers.get(name)!, url))
  const askHelper = playhead.recordTool('ask_helper', ({ key }: { key: string }) => ask(key))
  const runCall = ({ name, arguments: { key = '' } }: AskedCall) =>
    name === 'ask_helper' ? askHelper({ key }) : useTool(name, { key })
  const runCalls = async (calls: AskedCall[]): Promise<[AskedCall, string][]> => {
    const finished: [AskedCall, string][] = []
    const inOrder = await Promise.all(
      calls.map(async (call): Promise<[AskedCall, string]> => {
        const told: [AskedCall, string] = [call, await runCall(call)]
        finished.push(told)
        return told
      }),
    )
    return plan.isUnordered ? finished : inOrder
  }
  const now = plan.hasVolatilePrompt ? ` Request ${randomUUID()}, made at ${new Date().toISOString()}.` : ''
  const prompt = {
    url,
    system: plan.system + now,
    question: plan.question,
    toolNames: [...toolNames, 'ask_helper'],
  }
  return conversations[plan.client](plan, prompt, runCalls)
}

/** A rule of the scripted model that answers every plan turn by turn. */
export function script(plans: readonly Plan[]): Rule {
  const known = new Map(plans.flatMap(allPlans).map((plan) => [plan.name, plan]))
  const failed = new Map<string, number>()
  return ({ body, turn }) => {
    const name = /the agent of (case-[\w-]+)\./.exec(JSON.stringify(body))?.[1] ?? ''
    const plan = known.get(name)
    const planned = plan?.turns[turn]
    if (planned === undefined)
      return { error: { status: 400, message: `No plan for turn ${turn} of ${name}` } }
    const place = `${plan!.name}/${turn}`
    const failures = failed.get(place) ?? 0
    const status = planned.failures[failures]
    if (status !== undefined) {
      failed.set(place, failures + 1)
      return { error: { status, message: `Try again (${status})` }, headers: { 'retry-after-ms': '1' } }
    }
    return {
      text: planned.text,
      toolCalls: planned.calls.map((call) =>
        'helper' in call
          ? { name: 'ask_helper', arguments: { key: call.helper.name } }
          : { name: call.tool, arguments: { key: call.key } },
      ),
      ...(plan!.isStream && { sliceBytes: 301 }),
    }
  }
}
