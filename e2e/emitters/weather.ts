import {
  callTool,
  startScriptedModel,
  type ModelRequest,
  type RecordedRequest,
  type Reply,
  type Rule,
  type ScriptedModel,
} from '@playhead/scripted-model'

type OfferedTool = ModelRequest['tools'][number]

/** What each program asks, in a run of its own. The city tells the runs apart. */
export const scenarios = {
  loop: { cities: ['Paris'] },
  stream: { cities: ['London'] },
  parallel: { cities: ['Oslo', 'Rome'] },
  toolError: { cities: ['Atlantis'] },
  refused: { cities: ['Berlin'] },
} as const

export type ScenarioName = keyof typeof scenarios
export const scenarioNames = Object.keys(scenarios) as ScenarioName[]

export const question = (name: ScenarioName) =>
  `What is the weather in ${scenarios[name].cities.join(' and ')}?`
export const AGENT = 'weather_agent'
export const TOOL = 'get_weather'
export const REFUSAL = 'The model refuses to talk about Berlin.'
export const TOOL_FAILURE = 'There is no city called Atlantis.'

/** What a run used and did. */
export type Facts = {
  /** How many sessions show the run. */
  sessions: number
  calls: number
  usage: { input: number; output: number; cacheRead: number; cacheWrite: number }
  /** US dollars. */
  cost: number | null
  tools: { name: string; arguments: unknown; result: unknown; error: string | null }[]
  /** Failures, each once, whichever steps pass it on. */
  errors: number
  endState: string
  preview: string
  agents: string[]
}

/** US dollars for a million tokens: input, from the cache, written to the cache, output. */
const prices: Record<string, [number, number, number, number]> = {
  'gpt-4o-mini': [0.15, 0.075, 0.15, 0.6],
  'claude-haiku-4-5': [1, 0.1, 1.25, 5],
  'gemini-2.5-flash': [0.3, 0.03, 0.3, 2.5],
}

/** A model that asks for the weather of each city once, and then says what it was told. */
export async function startWeatherModel(own: readonly Rule[] = []): Promise<ScriptedModel> {
  let count = 0
  const withUsage = (api: string, reply: Reply | undefined): Reply | undefined => {
    if (reply === undefined) return undefined
    count += 1
    return { ...(typeof reply === 'string' ? { text: reply } : reply), usage: usageOf(api, count) }
  }
  const rules = [...own, answer]
  return startScriptedModel(
    rules.map((rule) => async (request) => withUsage(request.api, await rule(request))),
  )
}

/** No two calls use the same number of tokens. */
function usageOf(api: string, count: number) {
  if (api.startsWith('anthropic'))
    return { input: 1250 + 3 * count, cacheRead: 1000 + count, cacheWrite: 200 + count, output: 40 + count }
  return { input: 100 + 10 * count, cacheRead: 20 + count, output: 30 + count, reasoning: 0 }
}

const answer: Rule = ({ messages, tools }) => {
  const name = scenarioOf(JSON.stringify(messages))
  if (name === undefined) return undefined
  if (name === 'refused') return { error: { status: 400, message: REFUSAL } }
  // Some frameworks tell the model what a tool said as plain text.
  const isAnswered =
    messages.some(({ toolResults }) => toolResults.length > 0) ||
    /21C in|no city called/.test(JSON.stringify(messages))
  const { cities } = scenarios[name]
  // Semantic Kernel puts the plugin before the name.
  const tool = tools.find(({ name: offered }) => offered.endsWith(TOOL))
  if (tool !== undefined && !isAnswered)
    return { toolCalls: cities.map((city) => ({ name: tool.name, arguments: { city, days: 2 } })) }
  const text = name === 'toolError' ? `I know no ${cities[0]}.` : `It is sunny in ${cities.join(' and ')}.`
  const ending = tools.find(({ name: offered }) => offered === 'final_answer')
  return ending === undefined ? text : callTool('final_answer', { [firstParameter(ending)]: text })
}

function firstParameter({ parameters }: OfferedTool): string {
  return Object.keys((parameters as { properties?: object } | undefined)?.properties ?? {})[0] ?? 'answer'
}

/** The scenario whose city is named first. */
export function scenarioOf(text: string): ScenarioName | undefined {
  return scenarioNames.find((name) => text.includes(scenarios[name].cities[0]))
}

/** What really happened in a scenario, by the model's own account and what the tool does. */
export function truthOf(
  name: ScenarioName,
  requests: readonly RecordedRequest[],
  { namesAgent = true, seesToolFailures = true }: { namesAgent?: boolean; seesToolFailures?: boolean },
): Facts {
  const own = requests.filter(({ messages }) => scenarioOf(JSON.stringify(messages)) === name)
  const answered = own.flatMap(({ sent }) => sent ?? [])
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
  let cost = 0
  for (const { usage: used, model } of answered) {
    const { input, output, cacheRead = 0, cacheWrite = 0 } = used
    for (const key of ['input', 'output', 'cacheRead', 'cacheWrite'] as const) usage[key] += used[key] ?? 0
    const [plain, read, written, out] = prices[model]!
    cost += (input - cacheRead - cacheWrite) * plain + cacheRead * read + cacheWrite * written + output * out
  }
  const isRefused = name === 'refused'
  return {
    sessions: 1,
    calls: own.length,
    usage,
    cost: isRefused ? null : Math.round(cost * 1e3) / 1e9,
    tools: answered
      .flatMap(({ toolCalls }) => toolCalls)
      .map(({ name: tool, arguments: given }) =>
        toolTruth(tool, JSON.parse(given) as Record<string, unknown>, seesToolFailures),
      )
      .sort(byContent),
    errors: isRefused || (name === 'toolError' && seesToolFailures) ? 1 : 0,
    endState: isRefused ? 'fail' : 'success',
    preview: question(name),
    agents: namesAgent ? [AGENT] : [],
  }
}

function toolTruth(
  name: string,
  given: Record<string, unknown>,
  seesFailures: boolean,
): Facts['tools'][number] {
  const call = { name, arguments: given }
  if (given.city === 'Atlantis')
    return seesFailures
      ? { ...call, result: null, error: TOOL_FAILURE }
      : { ...call, result: `Error: ${TOOL_FAILURE}`, error: null }
  return {
    ...call,
    result: name.endsWith(TOOL) ? `sunny, 21C in ${String(given.city)}` : Object.values(given)[0],
    error: null,
  }
}

/** Tools that run in parallel start in any order. */
export function byContent(left: unknown, right: unknown): number {
  return JSON.stringify(left) < JSON.stringify(right) ? -1 : 1
}
