import { callTool, inTurns, type Reply, type Rule } from '@playhead/scripted-model'

const order = { order_id: 'o_9001' }
const call = (name: string) => ({ name, arguments: order })

/** Picks the reply for each demo agent by its instructions. */
const replies: [instructions: string, rule: Rule][] = [
  [
    'payments specialist',
    inTurns(
      { toolCalls: [call('list_charges'), call('list_fees')] },
      'One charge of 84 dollars, and import duty of 11.20 dollars that we paid for the customer.',
    ),
  ],
  [
    'delivery specialist',
    inTurns(
      { toolCalls: [call('track_parcel'), call('list_delays'), call('read_address')] },
      'The parcel has been in customs in Rotterdam since 12 November, two days late.',
    ),
  ],
  [
    'You coordinate',
    () =>
      'Your parcel is in customs in Rotterdam and should reach Utrecht in two days. The 11.20 dollars are import duty; we have paid it, and you owe nothing.',
  ],
  ['search the help center', () => callTool('search_help', { query: 'share a calendar' })],
]

export const answerInDemo: Rule = (request) => {
  const instructions = request.messages.find(({ role }) => role === 'system')?.text ?? ''
  return replies.find(([words]) => instructions.includes(words))?.[1](request)
}

/** Responds with 429 the first time a message arrives. */
export function refuseOnce(message: string): Rule {
  let isRefused = false
  return ({ userText }): Reply | undefined => {
    if (isRefused || userText !== message) return undefined
    isRefused = true
    return {
      delayMs: 90,
      error: { status: 429, message: 'Rate limit reached: 500 requests a minute.', retryAfterSeconds: 1 },
    }
  }
}

export const embed: Rule = ({ api }) => (api === 'openai.embeddings' ? { delayMs: 70 } : undefined)

export const readReceiptImage: Rule = ({ api }) =>
  api !== 'openai.responses'
    ? undefined
    : {
        delayMs: 2_300,
        reasoning:
          'The bar at the top is the merchant. The last line is darker than the others, so it is the total: 46.20. The lines above add up to 42.00, and 4.20 of tax make 46.20. That fits.',
        text: 'The total is 46.20 at Harbour Stationers.',
        usage: { input: 1_180, output: 214, reasoning: 176 },
      }
