import type { SpanOptions } from '../../otlp.ts'
import { toolSession } from '../failing-sessions.ts'

type Session = Parameters<typeof toolSession>[1] & {}
type Call = Parameters<typeof toolSession>[0][number]

/** Details that differ from session to session and must not make another issue of it. */
export type Details = { random: () => number }

export type Shape = { name: string; make: (details: Details, session: Session) => SpanOptions[] }

/** Failures that are one issue each, however often they happen. */
export const shapes: readonly Shape[] = [
  // The same tool with two errors, and the same error of two tools.
  fatal('refund_order', ({ random }) => `order ${id(random, 'o')} is locked since ${number(random)} ms`),
  fatal('refund_order', ({ random }) => `gateway ${number(random)} answered 503 after ${number(random)} ms`),
  fatal('cancel_order', ({ random }) => `order ${id(random, 'o')} is locked since ${number(random)} ms`),
  fatal(
    'charge_card',
    ({ random }) => `card ending in ${number(random)} was declined by "${id(random, 'bank')}"`,
  ),
  fatal('send_email', ({ random }) => `mailbox '${id(random, 'user')}' is full`),
  fatal('book_flight', ({ random }) => `seat ${number(random)}C of flight LH${number(random)} is taken`),
  fatal('get_order', ({ random }) => `connection to 10.0.${number(random)}.7 was reset`),
  fatal('search_flights', ({ random }) => `rate limit: ${number(random)} requests in ${number(random)} s`),
  fatal('update_address', ({ random }) => `invalid postal code ${number(random)}`),
  fatal('create_ticket', ({ random }) => `queue ${uuid(random)} does not accept tickets`),
  loop('search_help', { articles: [] }),
  loop('search_products', []),
  loop('poll_export', { status: 'pending' }),
  loop('list_invoices', { invoices: [] }),
  nullArgument('fetch_customer', 'customer_id'),
  nullArgument('fetch_customer', 'region'),
  nullArgument('fetch_invoice', 'invoice_id'),
  ignored('refund_order', 'the gateway is closed'),
  ignored('update_seat', 'the seat map is being changed'),
  ignored('notify_team', 'the channel is archived'),
  cut('writer', 'length'),
  cut('writer', 'content_filter'),
  cut('planner', 'length'),
  invented('search_prices'),
  invented('lookup_rates'),
  claimed('support', 'cancelled', 'cancel_subscription'),
  claimed('billing', 'refunded', 'refund_payment'),
  outOfTurns('researcher'),
  reported('survey', ({ random }) => `customer ${id(random, 'c')} rated it ${number(random) % 3}`),
  wrongAmount('returns'),
]

/** The input of the shape that differs from a session that passed. */
const RETURN_REQUEST = 'Please return the shoes of my last order'

/** Sessions in which all is well, one of them with the input that another shape fails with. */
export const healthy: Shape['make'] = ({ random }, session) =>
  random() < 0.2
    ? toolSession([{ tool: 'return_order', given: { reason: 'size', amount: 80 }, result: 'returned' }], {
        ...session,
        name: 'returns',
        request: RETURN_REQUEST,
        answer: 'Done, thank you for waiting.',
      })
    : toolSession(
        [{ tool: 'search_help', given: { query: id(random, 'plan') }, result: { articles: ['plans'] } }],
        {
          ...session,
          name: 'help center',
          answer: 'There are several plans, and you can change at any time.',
        },
      )

function fatal(tool: string, message: (details: Details) => string): Shape {
  return {
    name: `${tool} fails: ${message({ random: () => 0 })}`,
    make: (details, session) =>
      toolSession(
        [...lookUps(details), { tool, given: { id: id(details.random, 'x') }, error: message(details) }],
        { ...session, name: 'shop', endState: 'Fail' },
      ),
  }
}

/** Up to two calls that work, so that the failure is not always at the same step. */
function lookUps({ random }: Details): Call[] {
  const customer = id(random, 'c')
  return Array.from({ length: Math.floor(random() * 3) }, (_, index) => ({
    tool: `read_${['profile', 'history'][index]}`,
    given: { customer },
    result: { customer, entries: number(random) },
  }))
}

function loop(tool: string, result: unknown): Shape {
  return {
    name: `${tool} in a loop`,
    make: ({ random }, session) => {
      const call = { tool, given: { query: id(random, 'words') }, result }
      const calls = Array.from({ length: 4 + Math.floor(random() * 3) }, () => call)
      return toolSession(calls, { ...session, name: 'help center', endState: 'Fail' })
    },
  }
}

function nullArgument(tool: string, field: string): Shape {
  return {
    name: `${tool} without ${field}`,
    make: (details, session) =>
      toolSession(
        [...lookUps(details), { tool, given: { [field]: null }, error: `${field} cannot be null` }],
        {
          ...session,
          name: 'accounts',
          endState: 'Fail',
        },
      ),
  }
}

function ignored(tool: string, error: string): Shape {
  return {
    name: `${tool} fails and nobody says so`,
    make: ({ random }, session) =>
      toolSession([{ tool, given: { id: id(random, 'x') }, error }], {
        ...session,
        name: 'concierge',
        answer: 'You are all set, have a wonderful day!',
      }),
  }
}

function cut(name: string, finishReason: string): Shape {
  return {
    name: `the reply of ${name} ends with ${finishReason}`,
    make: ({ random }, session) =>
      toolSession([], {
        ...session,
        name,
        finishReason,
        answer: `The first ${number(random)} words of a text that should go on, and on, and`,
      }),
  }
}

function invented(tool: string): Shape {
  return {
    name: `${tool} finds nothing, the answer has a figure`,
    make: ({ random }, session) =>
      toolSession([{ tool, given: { product: id(random, 'p') }, result: [] }], {
        ...session,
        name: 'quotes',
        answer: `The price for it is ${number(random)},${number(random)} dollars in total this year.`,
      }),
  }
}

function claimed(name: string, done: string, tool: string): Shape {
  return {
    name: `${name} claims to have ${done}`,
    make: ({ random }, session) =>
      toolSession([{ tool: 'read_account', given: { id: id(random, 'a') }, result: { plan: 'pro' } }], {
        ...session,
        name,
        offered: ['read_account', tool],
        answer: `I have ${done} it, as you asked. Anything else?`,
      }),
  }
}

function outOfTurns(name: string): Shape {
  return {
    name: `${name} has no answer after some turns`,
    make: (details, session) =>
      toolSession(
        [...lookUps(details), { tool: 'open_page', given: { url: id(details.random, 'u') }, result: 'text' }],
        {
          ...session,
          name,
          endState: 'Fail',
          reason: `no answer after ${number(details.random)} turns`,
        },
      ),
  }
}

function reported(name: string, reason: (details: Details) => string): Shape {
  return {
    name: `${name} is reported as failed`,
    make: (details, session) =>
      toolSession([{ tool: 'send_survey', given: { to: id(details.random, 'c') }, result: 'sent' }], {
        ...session,
        name,
        endState: 'Fail',
        reason: reason(details),
      }),
  }
}

/** Differs from a session with the same input that passed. */
function wrongAmount(name: string): Shape {
  return {
    name: `${name} with a wrong amount`,
    make: ({ random }, session) =>
      toolSession(
        [
          {
            tool: 'return_order',
            given: { reason: 'size', amount: 800 + number(random) },
            result: 'returned',
          },
        ],
        {
          ...session,
          name,
          request: RETURN_REQUEST,
          answer: 'Done, thank you for waiting.',
          endState: 'Fail',
        },
      ),
  }
}

function id(random: () => number, kind: string): string {
  return `${kind}_${Math.floor(random() * 36 ** 6)
    .toString(36)
    .padStart(6, '0')}${number(random)}`
}

function number(random: () => number): number {
  return 100 + Math.floor(random() * 900)
}

function uuid(random: () => number): string {
  const digits = (length: number) =>
    Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join('')
  return [8, 4, 4, 4, 12].map(digits).join('-')
}
