import type { Rule } from '@playhead/scripted-model'
import { REFUSAL, scenarioOf, scenarios, TOOL } from './weather.ts'

/** DSPy asks for fields in a text instead of tool calls. */
export const reactRule: Rule = ({ messages }) => {
  const text = JSON.stringify(messages)
  const name = scenarioOf(text)
  if (name === undefined) return undefined
  if (name === 'refused') return { error: { status: 400, message: REFUSAL } }
  const fields = (values: Record<string, string>) =>
    Object.entries({ ...values, completed: '' })
      .map(([field, value]) => `[[ ## ${field} ## ]]\n${value}`)
      .join('\n\n')
  if (!messages[0]!.text.includes('next_tool_name'))
    return fields({ reasoning: 'I looked.', answer: 'It is sunny.' })
  const asked = scenarios[name].cities.filter((city) => !text.includes(`21C in ${city}`))
  const isFailed = text.includes('no city called')
  if (asked.length === 0 || isFailed)
    return fields({ next_thought: 'I am done.', next_tool_name: 'finish', next_tool_args: '{}' })
  const given = JSON.stringify({ city: asked[0], days: 2 })
  return fields({ next_thought: 'I look.', next_tool_name: TOOL, next_tool_args: given })
}
