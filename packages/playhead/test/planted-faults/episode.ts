import type { Random } from '../../../model/test/random.ts'

/** A tool call of the scripted model, and how the tool answers. */
export type PlannedCall = {
  tool: string
  arguments: Record<string, unknown>
  result?: unknown
  /** The tool throws this. */
  error?: string
  /** The agent does not catch what the tool throws. */
  isFatal?: boolean
  /** What the call is for. */
  role: 'identify' | 'read' | 'write' | 'other'
}

/** One reply of the model. */
export type PlannedTurn = {
  text?: string
  calls?: PlannedCall[]
  finishReason?: 'length'
  isRefusedOnce?: boolean
}

/** A run of an agent, planned in advance. */
export type Episode = {
  agent: 'order desk' | 'travel planner'
  request: string
  turns: PlannedTurn[]
}

export const tools: Record<Episode['agent'], Record<string, Record<string, 'string' | 'number'>>> = {
  'order desk': {
    find_customer: { email: 'string' },
    list_orders: { customer_id: 'string' },
    get_shipping: { order_id: 'string' },
    refund_order: { order_id: 'string', amount: 'number' },
    search_help: { query: 'string' },
  },
  'travel planner': {
    find_traveller: { name: 'string' },
    search_flights: { traveller_id: 'string', city: 'string' },
    check_weather: { city: 'string' },
    book_flight: { flight_id: 'string', seats: 'number' },
    search_hotels: { query: 'string' },
  },
}

const people = ['ada', 'grace', 'linus', 'barbara', 'edsger', 'margaret', 'tim', 'radia']
const cities = ['Lisbon', 'Oslo', 'Vienna', 'Porto', 'Ghent', 'Turin', 'Malmo', 'Lyon']
const topics = ['share a calendar', 'change the plan', 'add a seat', 'export the data', 'reset a password']

/** A run in which everything is well, with the small troubles that ordinary runs have. */
export function makeEpisode(agent: Episode['agent'], random: Random): Episode {
  const episode = agent === 'order desk' ? orderEpisode(random) : travelEpisode(random)
  for (const trouble of troubles) if (random.chance(0.25)) trouble(episode, random)
  return episode
}

function orderEpisode(random: Random): Episode {
  const person = random.pick(people)
  const email = `${person}.${random.integer(10, 99)}@mail.test`
  const customer = `cus_${random.integer(1000, 9999)}`
  const order = `ord_${random.integer(10_000, 99_999)}`
  const amount = random.integer(1000, 99_000) / 100
  return {
    agent: 'order desk',
    request: `${random.pick(['Hello', 'Hi', 'Good morning'])}, this is ${email}. ${random.pick(['My parcel arrived broken', 'I sent my order back', 'I was charged for something I returned'])}, please refund it.`,
    turns: [
      {
        calls: [
          {
            role: 'identify',
            tool: 'find_customer',
            arguments: { email },
            result: { customer_id: customer },
          },
        ],
      },
      {
        calls: [
          {
            role: 'read',
            tool: 'list_orders',
            arguments: { customer_id: customer },
            result: [{ order_id: order, total: amount }],
          },
        ],
      },
      {
        calls: [
          {
            role: 'write',
            tool: 'refund_order',
            arguments: { order_id: order, amount },
            result: { refunded: amount },
          },
        ],
      },
      {
        text: `I have refunded ${amount} dollars for ${order}. The money is back within ${random.integer(3, 9)} days.`,
      },
    ],
  }
}

function travelEpisode(random: Random): Episode {
  const name = random.pick(people)
  const city = random.pick(cities)
  const traveller = `tr-${random.integer(1000, 9999)}`
  const flight = `FL${random.integer(1000, 9999)}`
  const seats = random.integer(1, 4)
  const price = random.integer(60, 900)
  return {
    agent: 'travel planner',
    request: `${name} here: ${random.pick(['book me a flight', 'I need a flight', 'find and book a flight'])} to ${city} for ${seats} ${random.pick(['people', 'persons'])}.`,
    turns: [
      {
        calls: [
          {
            role: 'identify',
            tool: 'find_traveller',
            arguments: { name },
            result: { traveller_id: traveller },
          },
        ],
      },
      {
        text: 'Let me see which flights there are.',
        calls: [
          {
            role: 'read',
            tool: 'search_flights',
            arguments: { traveller_id: traveller, city },
            result: { flights: [{ flight_id: flight, price }] },
          },
        ],
      },
      {
        calls: [
          {
            role: 'write',
            tool: 'book_flight',
            arguments: { flight_id: flight, seats },
            result: { booked: true, flight_id: flight },
          },
        ],
      },
      {
        text: `Your flight ${flight} to ${city} has been booked for ${price} euros a seat. Have a good trip!`,
      },
    ],
  }
}

/** What happens in healthy runs, and must not be taken for a failure. */
const troubles: ((episode: Episode, random: Random) => void)[] = [
  // The model's server is busy, and the client tries again.
  (episode, random) => {
    random.pick(episode.turns).isRefusedOnce = true
  },
  // A tool fails once, and the model calls it again.
  (episode, random) => {
    const index = random.integer(0, 2)
    const turn = episode.turns[index]!
    const failed = turn.calls!.map((call) => ({
      ...call,
      arguments: { ...call.arguments },
      result: undefined,
      error: random.pick(['503 service unavailable', 'connection reset', 'timeout of 3000 ms']),
    }))
    episode.turns.splice(index, 0, { calls: failed })
  },
  // A question on the side has no answer, and the agent says so.
  (episode, random) => {
    const tool = episode.agent === 'order desk' ? 'search_help' : 'search_hotels'
    const query = random.pick(topics)
    episode.turns.splice(-1, 0, {
      calls: [{ role: 'other', tool, arguments: { query }, result: { query, results: [] } }],
    })
    const last = episode.turns.at(-1)!
    last.text = `${last.text!} I found nothing about "${query}", sorry.`
  },
  // It waits until something is ready.
  (episode, random) => {
    const isDesk = episode.agent === 'order desk'
    const tool = isDesk ? 'get_shipping' : 'check_weather'
    const given = isDesk
      ? { order_id: String(writeOf(episode).arguments.order_id) }
      : { city: random.pick(cities) }
    const poll = (status: string): PlannedTurn => ({
      calls: [{ role: 'other', tool, arguments: given, result: { status } }],
    })
    const waits = Array.from({ length: random.integer(1, 4) }, () => poll('pending'))
    episode.turns.splice(2, 0, ...waits, poll('ready'))
  },
  // It looks at several things at once.
  (episode, random) => {
    const isDesk = episode.agent === 'order desk'
    const turn = episode.turns.find(
      ({ calls }) => calls?.[0]?.role === 'read' && calls[0].error === undefined,
    )!
    turn.calls!.push(
      isDesk
        ? {
            role: 'other',
            tool: 'get_shipping',
            arguments: { order_id: String(writeOf(episode).arguments.order_id) },
            result: { carrier: random.word() },
          }
        : {
            role: 'other',
            tool: 'check_weather',
            arguments: { city: random.pick(cities) },
            result: { degrees: random.integer(1, 30) },
          },
    )
  },
]

export function writeOf({ turns }: Episode): PlannedCall {
  return turns.flatMap(({ calls }) => calls ?? []).find(({ role }) => role === 'write')!
}
