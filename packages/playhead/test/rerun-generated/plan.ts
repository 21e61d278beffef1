import { createRandom, type Random } from '../../../model/test/random.ts'
import { oddTools, type ToolName } from './tools.ts'

export const traits = ['stream', 'parallel', 'retry', 'nested', 'odd result'] as const
export type Trait = (typeof traits)[number]

export const clients = [
  'openai chat',
  'openai responses',
  'anthropic',
  'gemini',
  'ai sdk',
  'langchain',
] as const
export type ClientName = (typeof clients)[number]

export type PlannedCall = { tool: ToolName; key: string } | { helper: Plan }

/** One answer of the model, after the failures that come before it. */
export type Turn = { text: string; reasoning: string; calls: PlannedCall[]; failures: number[] }

/** What an agent does, from its prompt to its answer. The same seed makes the same plans. */
export type Plan = {
  /** Stands in the system prompt, so that the scripted model knows the plan. */
  name: string
  client: ClientName
  isStream: boolean
  /** Stops reading the last answer after this many pieces. */
  abortAfter?: number
  traits: Trait[]
  /** The prompt says when it was made and has an id of its own. */
  hasVolatilePrompt: boolean
  /** Results reach the model in the order in which the tools finished. */
  isUnordered: boolean
  system: string
  question: string
  turns: Turn[]
}

export function makePlan(seed: number, index: number): Plan {
  const random = createRandom(seed * 100_003 + index)
  const own = traits.filter((_, position) => index % traits.length === position || random.chance(0.3))
  return plan(random, `case-${index}`, own, clients[Math.floor(index / traits.length) % clients.length]!)
}

function plan(random: Random, name: string, own: readonly Trait[], client: ClientName): Plan {
  const isStream = own.includes('stream')
  const turnCount = random.integer(1, 3)
  const turns = Array.from({ length: turnCount }, () => turn(random, own))
  // Each trait shows at least once.
  const [first] = turns as [Turn]
  if (own.includes('parallel')) while (first.calls.length < 2) first.calls.push(toolCall(random, own))
  if (own.includes('odd result')) first.calls.push({ tool: random.pick(oddTools), key: random.hex(6) })
  if (own.includes('retry')) first.failures.push(random.pick([429, 500, 503]))
  if (own.includes('nested')) first.calls.push({ helper: helper(random, `${name}-a`, own) })
  if (own.includes('nested') && own.includes('parallel'))
    first.calls.push({ helper: helper(random, `${name}-b`, own) })
  const answer: Turn = {
    text: `${random.sentence()} – größer ${random.word()} 🏔️ ${random.sentence()}.`,
    reasoning: '',
    calls: [],
    failures: own.includes('retry') && random.chance(0.4) ? [503, 429] : [],
  }
  const isAborted = isStream && (client === 'openai chat' || client === 'anthropic') && random.chance(0.15)
  return {
    name,
    client,
    isStream,
    ...(isAborted && { abortAfter: 2 }),
    traits: [...own],
    hasVolatilePrompt: random.chance(0.3),
    isUnordered: random.chance(0.3),
    system: `You are ${random.word()}, the agent of ${name}. ${random.sentence()}.`,
    question: `${random.sentence()}?`,
    turns: [...turns, answer],
  }
}

function helper(random: Random, name: string, own: readonly Trait[]): Plan {
  const inner = own.filter((trait) => trait !== 'nested' && random.chance(0.5))
  return plan(random, name, inner, random.pick(clients))
}

function turn(random: Random, own: readonly Trait[]): Turn {
  const count = own.includes('parallel') ? random.integer(1, 4) : 1
  return {
    text: random.chance(0.3) ? `${random.sentence()}.` : '',
    reasoning: '',
    calls: Array.from({ length: count }, () => toolCall(random, own)),
    failures: own.includes('retry') && random.chance(0.2) ? [429] : [],
  }
}

function toolCall(random: Random, own: readonly Trait[]): PlannedCall {
  const key = random.hex(6)
  if (own.includes('odd result') && random.chance(0.5)) return { tool: random.pick(oddTools), key }
  if (own.includes('retry') && random.chance(0.3)) return { tool: 'flaky', key }
  if (own.includes('odd result') && random.chance(0.02)) return { tool: 'download', key }
  return { tool: 'look_up', key }
}

/** The plan itself and those of its helpers. */
export function allPlans(whole: Plan): Plan[] {
  const helpers = whole.turns.flatMap(({ calls }) =>
    calls.flatMap((call) => ('helper' in call ? [call.helper] : [])),
  )
  return [whole, ...helpers.flatMap(allPlans)]
}
